import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import type { ServerSet, ServerSetOptions } from "./server-set.ts";

/** An option of a command, as it is parsed and as help shows it. */
export interface Option {
  type: "string" | "boolean";
  short?: string;
  multiple?: boolean;
  /** What help writes behind the name: `key=value`, `FILE`. */
  value?: string;
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What the options of a command were given as. */
type Values<O extends Options> = string extends keyof O
  ? Readonly<Record<string, Value>>
  : { readonly [K in keyof O]?: ValueOf<O[K]> | undefined };

type Value = string | boolean | readonly string[] | undefined;

type ValueOf<O extends Option> = O extends { type: "boolean" }
  ? boolean
  : O extends { multiple: true }
    ? readonly string[]
    : string;

/** One command of the program: what its help says, and what it does. */
export interface Command<O extends Options = Options> {
  /** `nexus mcp call <server.tool> [--arg key=value]…` */
  usage: string;
  /** What there is to know beyond the summary in the catalog. */
  description?: string;
  /** How many words it takes after its own name. */
  words: { min: number; max: number };
  options: O;
  examples: readonly (readonly [command: string, meaning: string])[];
  /** It runs until it is told to end: then a signal is no failure. */
  endsOnSignal?: boolean;
  /** What it returns is the exit code; nothing is 0. */
  run(context: CommandContext<Values<O>>): Promise<number | void>;
}

export interface CommandContext<V = Record<string, unknown>> {
  words: readonly string[];
  options: V;
  flags: Flags;
  /** Fires on Ctrl-C. */
  signal: AbortSignal;
  out: Output;
  surroundings: Surroundings;
  stateFolder: string;
  /** The servers that the flags and options speak about. */
  openServers: (options?: ServerSetOptions) => Promise<ServerSet>;
}

/** What every command takes. */
export interface Flags {
  /** Machine output on stdout, nothing else there. */
  json: boolean;
  verbose: boolean;
  trust: boolean;
  config: string | undefined;
  timeoutMs: number | undefined;
}

/** Gives `run` the types of the command's own options. */
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

/** A server that stands on the command line instead of a configuration file. */
export const IN_PLACE = {
  stdio: { type: "string", value: '"COMMAND …"', help: "start this command instead of a configured server" },
  url: { type: "string", value: "URL", help: "connect to this URL instead of a configured server" },
  header: { type: "string", multiple: true, value: '"Name: value"', help: "a header to send to --url; repeatable" },
  env: { type: "string", multiple: true, value: "NAME=value", help: "an environment variable for --stdio; repeatable" },
} as const satisfies Options;

/** For commands of which each server they meet may be used. */
export const asksAnyone: ServerSetOptions = { asksFor: () => true };
