import type { InputProvider } from "../client/conversation/input.ts";
import type { Logger } from "../text/logger.ts";
import type { LoadOptions } from "../config/load.ts";
import type { ServerEntry } from "../transport/server-entry.ts";
import type { Transport } from "../transport/transport.ts";
import type { OpenApi } from "./servers/server-connector.ts";
import type { BackoffSettings } from "../async/backoff.ts";
import type { EraCache } from "./servers/era-cache.ts";
import type { PolicySettings } from "./directory/policy.ts";

export interface HostOptions {
  /** Servers by id, as in a configuration file, or transports of this process; then no file is read. */
  servers?: HostServers | undefined;
  /** This file alone, which is trusted because it was named. Without it and `servers`, all layers are read. */
  config?: string | undefined;
  /** Of the servers in the files, these alone, by id. */
  only?: readonly string[] | undefined;
  /** Where the project is looked for; the working folder unless given. */
  cwd?: string | undefined;
  /** Trust the project's files, and approvals of tool files by others, for this run: as they are when it begins. */
  trust?: boolean | undefined;
  /** Go on reading the files when they change. */
  watch?: boolean | undefined;
  /** Answers `${input:id}` in entries. */
  askInput?: LoadOptions["askInput"];
  /** Answers the servers' questions. */
  input?: InputProvider | undefined;
  policy?: PolicySettings | undefined;
  logger?: Logger | undefined;
  /** Where logs and eras are kept; a place of the platform's unless given. */
  stateFolder?: string | undefined;
  /** Makes servers of tool files; without it an entry with "api" cannot run. */
  openApi?: OpenApi | undefined;
  eraCache?: EraCache | undefined;
  backoff?: Partial<BackoffSettings> | undefined;
  /** How long connecting to a server, and each of its answers, may take, in place of what the entries say. */
  timeoutMs?: number | undefined;
  /** Servers that start at the same time: 8. */
  startAtOnce?: number | undefined;
  /** How long an owner's connection is kept after its last use: 5 minutes. */
  idleMs?: number | undefined;
  /** Connections of one server: 32, of which one is the host's own. */
  maxConnections?: number | undefined;
  /** What one principal gets of them while others compete, from 0 to 1: a quarter. Alone it gets all. */
  connectionShare?: number | undefined;
  /** How long a lease beyond that waits for another to end: 10 seconds. */
  connectionWaitMs?: number | undefined;
  /** How often a legacy server over HTTP is asked whether it is still there: every 30 seconds. */
  healthCheckMs?: number | undefined;
  /** Connections of one owner, who has one for each set of capabilities: 8. One that is one too many is refused. */
  maxOwnerConnections?: number | undefined;
}

export type HostServers = Readonly<Record<string, HostEntry | Transport>>;

/** An entry with what only a host looks at. */
export interface HostEntry extends ServerEntry {
  enabled?: boolean | undefined;
  disabled?: boolean | undefined;
  auto_start?: boolean | undefined;
  fail_if_no_tools?: boolean | undefined;
  tools?: { allow?: readonly string[]; deny?: readonly string[] } | undefined;
  isolation?: "owner" | "call" | "shared" | undefined;
  /** What names of its tools and prompts begin with, in place of the server's id. */
  prefix?: string | undefined;
}
