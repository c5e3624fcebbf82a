import type { AuthorizationSecrets } from "../../auth/secret-guard.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { Infer } from "../../format/form.ts";
import type { HOST_SETTINGS } from "../../transport/entry-form.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";
import type { Transport } from "../../transport/transport.ts";

/** The layer of a configuration file; later layers hide earlier ones. */
export type Layer = "user" | "ancestor" | "project" | "explicit";

/** Where a server is configured. */
export interface Origin {
  file: string;
  line: number;
  column: number;
  layer: Layer;
}

/** What of a server is used only as it was accepted: everything, or tools with these names. */
export type Pin = true | readonly string[];

type Written = Infer<typeof HOST_SETTINGS>;

/** The settings of a server that do not concern how it is reached, with their defaults. */
export interface ServerSettings {
  /** A title for people. */
  name?: Written["name"] | undefined;
  /** Prefix of its tool and prompt names, instead of the id. */
  prefix?: Written["prefix"] | undefined;
  /** The agents that it is shared with; undefined: all of the same user. */
  agents?: readonly string[] | undefined;
  enabled: boolean;
  /** Connect when the host opens, not on first use. */
  autoStart: boolean;
  failIfNoTools: boolean;
  tools: { allow?: readonly string[]; deny?: readonly string[] };
  /** Undefined: nothing is pinned. */
  pin?: Pin | undefined;
  /** Names and patterns of tools that are listed also where the others are searched for. */
  always?: readonly string[] | undefined;
  isolation: NonNullable<Written["isolation"]>;
  /** Limits of its processes, instead of those of every server. */
  limits?: { processes?: number; memoryBytes?: number } | undefined;
}

/** A server as the host runs it: its validated entry with resolved variables. */
export interface ServerDefinition extends ServerSettings {
  /** 1-32 of `[a-z0-9-]`, starting with a letter. */
  id: string;
  /**
   * It serves an older major version of this server, which was published. Rules about that server count for it, and it is
   * shown nowhere: it has an address of its own.
   */
  versionOf?: string | undefined;
  /**
   * Undefined if the entry is too invalid to be resolved; then there is a problem. Without trust, its variables are not
   * resolved, and it is also undefined if it cannot be read without them.
   */
  entry?: ResolvedEntry | undefined;
  /** A transport from the program instead of an entry: a server in the same process. */
  transport?: Transport | undefined;
  /** Undefined for servers that a program passes in. */
  origin?: Origin | undefined;
  /** Files with a server of the same id, which this one hides. */
  hides: readonly string[];
  /** False: it is configured in a project file, and the folder or this version of the file is not trusted. */
  trusted: boolean;
  /** Why it cannot run: an error in its entry, or a variable that is not set. Other servers are not affected. */
  problem?: NexusError | undefined;
  /** Command or URL for errors, with unresolved variables, because resolved values may be secret. */
  written?: { command?: string; url?: string } | undefined;
  /** Resolved secrets; they are masked in the server's output. */
  secrets?: HiddenValues | undefined;
  /** Stored secrets without an origin; the first connection limits them to the server's address. */
  secretsToBind?: { names: readonly string[]; origin: string } | undefined;
  /** Stored secrets in "oauth"; each address is checked before one is sent to it. */
  authorizationSecrets?: AuthorizationSecrets | undefined;
  /** Keys of the entry that Nexus does not use. */
  extra?: Readonly<Record<string, unknown>> | undefined;
}
