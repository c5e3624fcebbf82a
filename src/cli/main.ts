#!/usr/bin/env node
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { VERSION } from "../protocol/version.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { printError, printLine } from "./output.ts";

const HELP = `nexus ${VERSION} – one program for Model Context Protocol servers of every revision

Usage: nexus <command> [options]

Commands:
  demo        connect to the bundled demo server and show what it offers

Options:
  --help      this text, or a command's own
  --version   the version
  --json      machine output on stdout, errors as one JSON object on stderr
`;

/** Each command is a chunk of its own, loaded when it is asked for. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  demo: async () => (await import("./commands/demo.ts")).demo,
};

export interface Command {
  help: string;
  run(args: readonly string[], signal: AbortSignal): Promise<void>;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  const json = args.includes("--json");
  if (name === "--version" || name === "-v") return say(VERSION);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") return say(HELP.trimEnd());

  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) {
    printError(
      new NexusError("CONFIG_INVALID", `There is no command "${name}"`, { hint: `"nexus --help" lists them.` }),
      json,
    );
    return 2;
  }
  const command = await load();
  if (rest.includes("--help") || rest.includes("-h")) return say(command.help.trimEnd());
  return runInterruptible(command, rest, json);
}

/** The first Ctrl-C ends cleanly, the second at once. */
async function runInterruptible(command: Command, args: readonly string[], json: boolean): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = () => (interrupt.signal.aborted ? process.exit(130) : interrupt.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  try {
    await command.run(args, interrupt.signal);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    const known = error instanceof NexusError ? error : new NexusError("INTERNAL", messageOf(error), { cause: error });
    printError(known, json);
    return exitCodeOf(known);
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}

function say(text: string): number {
  printLine(text);
  return 0;
}
