import type { HiddenValues } from "../../errors/hidden-values.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";
import type { Transport } from "../../transport/transport.ts";

/** Where in the order of configuration files something stands; later ones hide earlier ones. */
export type Layer = "user" | "ancestor" | "project" | "explicit";

/** The place a server was configured at. */
export interface Origin {
  file: string;
  line: number;
  column: number;
  layer: Layer;
}

/** A server as the host runs it: what was configured, checked, with its variables filled in. */
export interface ServerDefinition {
  /** 1-32 of `[a-z0-9-]`, starting with a letter. */
  id: string;
  /** What names of its tools and prompts begin with, in place of the id: as short as that may be. */
  prefix?: string | undefined;
  /** A title for people. */
  name?: string | undefined;
  /**
   * Absent where the entry is so wrong that there is nothing to reach; then there is a problem. Before trust its
   * variables are not filled in, and it is absent too where it cannot be understood without them.
   */
  entry?: ResolvedEntry | undefined;
  /** Given by a program in place of an entry: a server in the same process. */
  transport?: Transport | undefined;
  enabled: boolean;
  /** Connect when the host opens, not on first use. */
  autoStart: boolean;
  failIfNoTools: boolean;
  tools: { allow?: readonly string[]; deny?: readonly string[] };
  isolation: "owner" | "call" | "shared";
  /** Absent for servers given by a program. */
  origin?: Origin | undefined;
  /** Files with a server of the same id that this one hid. */
  hides: readonly string[];
  /** False: it stands in a file of the project, and the folder, or this version of the file, is not trusted. */
  trusted: boolean;
  /** Why it cannot run: a mistake in its entry, a variable that is not set. The others are not concerned. */
  problem?: NexusError | undefined;
  /** How it is reached, as written, for errors: what was filled in may be secret. */
  written?: { command?: string; url?: string } | undefined;
  /** Secrets that were filled in: what the server writes must not show them again. */
  secrets?: HiddenValues | undefined;
  /** Stored secrets for its address that were not sent anywhere yet: with the first connection they are limited to it. */
  secretsToBind?: { names: readonly string[]; origin: string } | undefined;
  /** How to authorize, as written. */
  oauth?: Readonly<Record<string, unknown>> | undefined;
  /** Keys of the entry that have no meaning here. */
  extra?: Readonly<Record<string, unknown>> | undefined;
}
