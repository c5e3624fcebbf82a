#!/usr/bin/env node
import { parseArgs } from "node:util";
import { asNexusError, messageOf, NexusError } from "../errors/nexus-error.ts";
import { VERSION } from "../protocol/version.ts";
import type { Command } from "./command.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { endQuietlyOnClosedPipe, printError, printLine } from "./output.ts";

const HELP = `nexus ${VERSION} – one program for Model Context Protocol servers of every revision

Usage: nexus <command> [options]

Commands:
  demo           connect to the bundled demo server and show what it offers

Options:
  -h, --help     this text, or a command's own
  -v, --version  the version
      --json     machine output on stdout, errors as one JSON object on stderr
`;

/** Each command is a chunk of its own, loaded when it is asked for. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  demo: async () => (await import("./commands/demo.ts")).demo,
};

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  json: { type: "boolean" },
} as const;

endQuietlyOnClosedPipe();
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  try {
    return await dispatch(args);
  } catch (error) {
    const known = asNexusError(error);
    printError(known, json);
    return exitCodeOf(known);
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const words = positionals[0] === "help" ? positionals.slice(1) : positionals;
  const wantsHelp = values.help === true || positionals[0] === "help" || words.length === 0;
  const [name, ...rest] = words;
  if (values.version) return say(VERSION);
  if (name === undefined) return say(HELP.trimEnd());

  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) throw wrongUsage(`There is no command "${name}"`, `"nexus --help" lists them.`);
  const command = await load();
  if (wantsHelp) return say(command.help.trimEnd());
  if (rest.length > 0)
    throw wrongUsage(`"nexus ${name}" takes no "${rest[0]}"`, `"nexus ${name} --help" shows what it takes.`);
  return runInterruptible(command, { json: values.json ?? false });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw wrongUsage(messageOf(error).split(". ")[0] ?? "Wrong usage", `"nexus --help" shows what there is.`);
  }
}

/** The first Ctrl-C ends cleanly, the second at once. */
async function runInterruptible(command: Command, options: { json: boolean }): Promise<number> {
  const interrupt = new AbortController();
  let exitCode = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    exitCode = signal === "SIGTERM" ? 143 : 130;
    if (interrupt.signal.aborted) process.exit(exitCode);
    interrupt.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  try {
    await command.run({ ...options, signal: interrupt.signal });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
  return exitCode;
}

function say(text: string): number {
  printLine(text);
  return 0;
}

function wrongUsage(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint });
}
