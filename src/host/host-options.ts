import { checkOptions, MILLISECONDS, type OptionKind, type OptionNames, TEXTS } from "../errors/check-options.ts";
import { checkCapabilities, INPUT, type InputProvider } from "../client/conversation/input.ts";
import type { Logger } from "../text/logger.ts";
import type { CredentialStorage } from "../auth/oauth/stored-credential.ts";
import type { SecretStore } from "../auth/secrets.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import type { Configuration, LoadOptions } from "../config/load.ts";
import type { PublicOnly } from "../net/public-only.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import type { HostSettings } from "../transport/entry-form.ts";
import type { Root } from "../protocol/mcp.ts";
import type { ServerEntry } from "../transport/server-entry.ts";
import type { Transport } from "../transport/transport.ts";
import type { OpenApi } from "./servers/server-connector.ts";
import { ProcessBudget } from "../process/process-budget.ts";
import { PROCESS_LIMITS, type ProcessLimits } from "../process/process-limits.ts";
import { DEFAULT_BACKOFF, type BackoffSettings } from "../async/backoff.ts";
import type { EraCache } from "./servers/era-cache.ts";
import type { DefinitionLedger } from "./definitions/definition-ledger.ts";
import { POLICY_SETTINGS, type PolicySettings } from "./directory/policy.ts";

export interface HostOptions {
  /** Servers by id, as in a configuration file, or transports of this process. No file is read. */
  servers?: HostServers | undefined;
  /** Only this file; it is trusted because it was named. Without `config` and `servers`, all layers are read. */
  config?: string | undefined;
  /** Only these servers of the files, by id. */
  only?: readonly string[] | undefined;
  /** Servers beside those of the files; a server of the files with the same name hides one of these. */
  beside?: (() => readonly ServerDefinition[]) | undefined;
  /** The project folder; default: the working folder. */
  cwd?: string | undefined;
  /** Folders or roots for programs of this machine whose entries have no `roots`, and whose files are trusted; default: none. */
  roots?: readonly (string | Root)[] | undefined;
  /** Trust the project's files, and approvals of tool files by other people, for this run, as they are at its start. */
  trust?: boolean | undefined;
  /** Reload the files when they change. */
  watch?: boolean | undefined;
  /** Called with the configuration whenever it was read, before its servers start. If it throws, they do not. */
  onConfiguration?: ((configuration: Configuration) => void) | undefined;
  /** Answers `${input:id}` in entries. */
  askInput?: LoadOptions["askInput"];
  /** Answers the servers' questions. */
  input?: InputProvider | undefined;
  /** Rules for who may see and use what; `allow-all` says that every tool may be called, also by agents. */
  policy?: PolicySettings | "allow-all" | undefined;
  logger?: Logger | undefined;
  /** Folder for logs and remembered eras; default: the platform's state folder. */
  stateFolder?: string | undefined;
  /** Opens tool files as servers; entries with "api" require it. */
  openApi?: OpenApi | undefined;
  eraCache?: EraCache | undefined;
  /** What `${secret:name}` and the tools of tool files use; default: the secrets of this user, in the state folder. */
  secrets?: SecretStore | undefined;
  /** Where the logins to servers are kept; default: those of this user, in the state folder. */
  credentials?: CredentialStorage | undefined;
  /** Which project files and tool files are trusted; default: the decisions of this user, in the state folder. */
  trustStore?: TrustStore | undefined;
  backoff?: Partial<BackoffSettings> | undefined;
  /** Timeout of connecting and of each answer, instead of the entries' timeouts. */
  timeoutMs?: number | undefined;
  /** Maximum number of servers that start at the same time; default: 8. */
  startAtOnce?: number | undefined;
  /** How long an owner's connection is kept after its last use; default: 5 minutes. */
  idleMs?: number | undefined;
  /** Maximum number of connections to one server, including the host's own; default: 32. */
  maxConnections?: number | undefined;
  /**
   * Share of the connections that one principal may use while others compete, from 0 to 1; default: 0.25. Without
   * competition it may use all.
   */
  connectionShare?: number | undefined;
  /** How long a lease waits for a free connection; default: 10 seconds. */
  connectionWaitMs?: number | undefined;
  /** Interval of health checks for legacy servers over HTTP; default: 30 seconds. */
  healthCheckMs?: number | undefined;
  /**
   * Maximum number of connections of one owner, one for each set of capabilities; default: 8. Further connections are
   * rejected.
   */
  maxOwnerConnections?: number | undefined;
  /** Additional trusted certificate authorities (PEM), for all servers. */
  ca?: readonly string[] | undefined;
  /**
   * Refuses internal addresses for all servers on the network and the upstreams of tool files: loopback, private networks,
   * cloud metadata. `allow` lists exceptions; an entry cannot add any.
   */
  publicOnly?: PublicOnly | undefined;
  /** Limits child processes: a budget that several hosts share, or limits of this host alone. Default: no limits. */
  processes?: ProcessBudget | ProcessLimits | undefined;
  /** The tenant of this host: whose processes, secrets and recorded writes they are; default: "default". */
  tenant?: string | undefined;
  /**
   * Remembers which definitions of tools, prompts and resources were accepted; default: a `MemoryLedger`, which accepts what
   * each server lists first.
   */
  definitions?: DefinitionLedger | undefined;
}

const SERVERS: OptionKind = {
  must: "an object with the servers by their names",
  hintFor: (name) => `Name each server, as in ${name}: { files: { command: "node", args: ["server.js"] } }.`,
  accepts: (value) => typeof value === "object" && !Array.isArray(value),
};

const HOST_OPTIONS: OptionNames<HostOptions> = {
  servers: SERVERS,
  config: true,
  roots: true,
  only: TEXTS,
  beside: true,
  cwd: true,
  trust: true,
  watch: true,
  onConfiguration: true,
  askInput: true,
  input: INPUT,
  policy: true,
  logger: true,
  stateFolder: true,
  openApi: true,
  eraCache: true,
  secrets: true,
  credentials: true,
  trustStore: true,
  backoff: true,
  timeoutMs: MILLISECONDS,
  startAtOnce: true,
  idleMs: true,
  maxConnections: true,
  connectionShare: true,
  connectionWaitMs: true,
  healthCheckMs: true,
  maxOwnerConnections: true,
  ca: true,
  publicOnly: true,
  processes: true,
  tenant: true,
  definitions: true,
};

/** Throws if an option, or a member of one, is not known. */
export function checkHostOptions(options: HostOptions): void {
  checkOptions("Host.open", options, HOST_OPTIONS);
  const { input, policy, backoff, processes } = options;
  if (input) checkCapabilities(input);
  if (policy && policy !== "allow-all") checkOptions("policy", policy, POLICY_SETTINGS);
  if (backoff) checkOptions("backoff", backoff, DEFAULT_BACKOFF);
  if (processes && !(processes instanceof ProcessBudget)) checkOptions("processes", processes, PROCESS_LIMITS);
}

export type HostServers = Readonly<Record<string, HostEntry | Transport>>;

/** An entry with the settings that only a host uses. */
export type HostEntry = ServerEntry & HostSettings;
