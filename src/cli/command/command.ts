import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import type { ServerSet, ServerSetOptions } from "./server-set.ts";

/** An option of a command, for parsing and for help. */
export interface Option {
  type: "string" | "boolean";
  short?: string;
  multiple?: boolean;
  /** Whether the value may be left out; then it is empty. */
  optional?: boolean;
  /** The placeholder in help: `key=value`, `FILE`. */
  value?: string;
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The types of a command's parsed options. */
export type OptionValues<O extends Options> = string extends keyof O
  ? Readonly<Record<string, Value>>
  : { readonly [K in keyof O]?: ValueOf<O[K]> | undefined };

type Value = string | boolean | readonly string[] | undefined;

type ValueOf<O extends Option> = O extends { type: "boolean" }
  ? boolean
  : O extends { multiple: true }
    ? readonly string[]
    : string;

/** One command of the program: its help and its function. */
export interface Command<O extends Options = Options> {
  /** `nexus mcp call <server.tool> [--arg key=value]…` */
  usage: string;
  /** Details beyond the summary in the catalog. */
  description?: string;
  /** The number of words after its name, where the usage does not say it. */
  words?: { min: number; max: number };
  options: O;
  examples: readonly (readonly [command: string, meaning: string])[];
  /** Whether it runs until it is ended: then a signal is not a failure. */
  endsOnSignal?: boolean;
  /** Returns the exit code; undefined is 0. */
  run(context: CommandContext<OptionValues<O>>): Promise<number | void>;
}

export interface CommandContext<V = Record<string, unknown>> {
  words: readonly string[];
  options: V;
  flags: Flags;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /**
   * For work that blocks the program for seconds and changes nothing outside of it: a signal ends the process at once,
   * as it would without any handler, because none could run.
   */
  endingAtOnce: <T>(work: () => Promise<T>) => Promise<T>;
  /** From now on Ctrl-C calls the handler instead of aborting `signal`, until the returned object is disposed. */
  takeInterrupts: (handler: () => void) => Disposable;
  out: Output;
  surroundings: Surroundings;
  stateFolder: string;
  /** Opens the servers that flags and options select. */
  openServers: (options?: ServerSetOptions) => Promise<ServerSet>;
}

/** The flags of every command. */
export interface Flags {
  /** JSON on stdout, and nothing else there. */
  json: boolean;
  verbose: boolean;
  trust: boolean;
  config: string | undefined;
  timeoutMs: number | undefined;
}

/** Gives `run` the types of the command's options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command;
}

export const FLAGS = {
  json: { type: "boolean", help: "print JSON on stdout; errors are one JSON object on stderr" },
  config: { type: "string", value: "FILE", help: "use only this configuration file; it is trusted" },
  timeout: { type: "string", value: "30s", help: "time limit for connecting and for each answer" },
  verbose: { type: "boolean", help: "show log messages of servers and of Nexus" },
  "no-color": { type: "boolean", help: "print without colours" },
  trust: { type: "boolean", help: "trust the project's configuration for this run" },
  help: { type: "boolean", short: "h", help: "show this help" },
} as const satisfies Options;

/** A server on the command line, instead of a configured one. */
export const IN_PLACE = {
  stdio: { type: "string", value: '"COMMAND …"', help: "start this command instead of a configured server" },
  url: { type: "string", value: "URL", help: "connect to this URL instead of a configured server" },
  header: { type: "string", multiple: true, value: '"Name: value"', help: "a header to send to --url; repeatable" },
  env: { type: "string", multiple: true, value: "NAME=value", help: "an environment variable for --stdio; repeatable" },
} as const satisfies Options;

/** The option of all commands that use the store. */
export const DATABASE_OPTION = {
  database: {
    type: "string",
    value: "ADDRESS",
    help: "file:PATH or postgres://…; default: NEXUS_DATABASE, gateway.database of the configuration, or nexus.db in the user's data folder",
  },
} as const satisfies Options;

/** A tenant of the gateway, whose servers are in its database instead of in configuration files. */
export const TENANT = {
  tenant: { type: "string", value: "NAME", help: "use this tenant of the gateway, with its own servers and secrets" },
  ...DATABASE_OPTION,
} as const satisfies Options;

/** The options of commands that work here or through the REST API of a gateway. */
export const GATEWAY_OPTIONS = {
  gateway: {
    type: "string",
    value: "URL",
    help: "do it through the REST API of this gateway, with the key in NEXUS_KEY, instead of here",
  },
  key: {
    type: "string",
    value: "-",
    help: "with --gateway: - reads the key from stdin. A key on the command line is visible to others on the machine",
  },
} as const satisfies Options;

/** For commands about servers: those of a tenant, here or at a gateway elsewhere. */
export const SERVED = { ...TENANT, ...GATEWAY_OPTIONS } as const satisfies Options;

/** For commands that may ask inputs for any server they use. */
export const asksAnyone: ServerSetOptions = { asksFor: () => true };
