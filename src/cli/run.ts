import { setMaxListeners } from "node:events";
import { closeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isatty } from "node:tty";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { nearestName } from "../text/nearest-name.ts";
import { readEnvironment } from "../environment.ts";
import { VERSION } from "../protocol/version.ts";
import { parseDuration } from "../text/duration.ts";
import { userFolders } from "../files/user-folders.ts";
import { withSizeAdvice } from "./call/size-limit.ts";
import { CATALOG, findCommand, listedCommands } from "./catalog.ts";
import type { Command, Flags } from "./command/command.ts";
import { commandWords, parseOptions, requireEarlyOptions, type ParsedOptions } from "./command/command-line.ts";
import { exitCodeOf } from "./output/exit-codes.ts";
import { Output } from "./output/output.ts";
import { ownTypedName } from "./output/typed-name.ts";
import { overview } from "./overview.ts";
import { ServerSet } from "./command/server-set.ts";
import { TenantState } from "./store/tenant-state.ts";

/** SIGHUP if the terminal closes; Ctrl-Break is a key on Windows. */
const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  SIGBREAK: 143,
};
const SIGNAL_NAMES = Object.keys(SIGNALS) as NodeJS.Signals[];
/** How long stopping may take before the user is told how to stop immediately. */
const ENDING_MS = 1_000;

/** Runs one command line; returns the exit code. Never throws. */
export async function run(args: readonly string[]): Promise<number> {
  const surroundings = readEnvironment();
  const { variables } = surroundings;
  const isPlain = args.includes("--no-color") || (variables["NO_COLOR"] ?? "") !== "" || variables["TERM"] === "dumb";
  const out = new Output({
    json: isAsked(args, "--json"),
    colours: !isPlain,
    isDumb: variables["TERM"] === "dumb",
    name: ownTypedName(surroundings),
  });
  try {
    return await dispatch(args, out);
  } catch (error) {
    const known = asNexusError(error);
    out.error(known);
    return exitCodeOf(known);
  }
}

async function dispatch(args: readonly string[], out: Output): Promise<number> {
  const words = commandWords(args);
  if (words[0] === "help") words.shift();
  const isGroupHelp = isGroup(words[0]) && words[1] === "help";
  if (isGroupHelp) words.splice(1, 1);
  const name = findCommand(words);
  const wantsHelp = isAsked(args, "--help") || isAsked(args, "-h") || args[0] === "help" || isGroupHelp;
  if (name === undefined) {
    if (words.length === 0 && isAsked(args, "--version"))
      return out.json ? tell(out, { version: VERSION }) : say(out, VERSION);
    const group = words.length <= 2 && isGroup(words.join(" ")) ? words.join(" ") : undefined;
    if (words.length > 0 && group === undefined) throw unknownCommand(words);
    requireEarlyOptions(args, group);
    if (out.json) return tell(out, { version: VERSION, commands: summaries(group) });
    return say(out, overview(group).trimEnd());
  }
  const command = await load(name);
  if (wantsHelp) {
    const summary = CATALOG[name]?.summary ?? "";
    const { commandFacts, commandHelp } = await import("./command/help.ts");
    if (out.json) return tell(out, commandFacts(name, summary, command));
    return say(out, commandHelp(name, summary, command, out.columns));
  }
  const parsed = parseOptions(args, name, command);
  return runInterruptible(command, parsed, out);
}

async function load(name: string): Promise<Command> {
  const listing = CATALOG[name];
  if (!listing) throw unknownCommand([name]);
  return listing.load();
}

/** The first Ctrl-C cancels the running work, also at the server; the second exits at once. */
async function runInterruptible(command: Command, { words, values }: ParsedOptions, out: Output): Promise<number> {
  const surroundings = readEnvironment();
  const { state: stateFolder } = userFolders(surroundings);
  const flags = flagsOf(values);
  const interrupt = new AbortController();
  const interruption = new NexusError("CANCELLED", "Interrupted");
  // Every server of a command listens to it; Node reports more than ten listeners as a leak.
  setMaxListeners(0, interrupt.signal);
  let exitCode: number | undefined;
  let patience: NodeJS.Timeout | undefined;
  let servers: ServerSet | undefined;
  let onInterrupt: (() => void) | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === "SIGINT" && onInterrupt) return onInterrupt();
    // Shells and the system both tell that a terminal is gone, and nobody is there to press a key twice.
    if (signal === "SIGHUP" && interrupt.signal.aborted) return;
    exitCode = SIGNALS[signal] ?? 130;
    if (interrupt.signal.aborted) process.exit(exitCode);
    interrupt.abort(interruption);
    if (!out.isInteractive || command.endsOnSignal) return;
    patience = setTimeout(() => out.note("stopping; press Ctrl-C again to stop immediately"), ENDING_MS);
  };
  const listen = () => SIGNAL_NAMES.forEach((signal) => process.on(signal, onSignal));
  const stopListening = () => SIGNAL_NAMES.forEach((signal) => process.off(signal, onSignal));
  const terminals = [0, 1, 2].filter(isatty);
  listen();
  try {
    const context: Parameters<Command["run"]>[0] = {
      words,
      options: values,
      flags,
      signal: interrupt.signal,
      endingAtOnce: async (work) => {
        // A signal that came before would be lost with its handler.
        await setImmediate();
        interrupt.signal.throwIfAborted();
        stopListening();
        return work().finally(listen);
      },
      takeInterrupts: (handler) => {
        onInterrupt = handler;
        return { [Symbol.dispose]: () => (onInterrupt = undefined) };
      },
      out,
      surroundings,
      stateFolder,
      openServers: async (options) => {
        const source = new TenantState({ options: values, flags, surroundings, stateFolder, out }, options?.tenant);
        servers = await ServerSet.open({ surroundings, source, flags, words, values, out }, options);
        return servers;
      },
    };
    const result = await command.run(context).catch(async (error: unknown) => {
      // A refused request had no effect, so the command can run again.
      if (!(await isLoggedInNow(error, { command, servers, context }))) throw error;
      return command.run(context);
    });
    return (command.endsOnSignal ? undefined : exitCode) ?? result ?? 0;
  } catch (error) {
    if (exitCode === undefined || command.endsOnSignal) {
      const known = asNexusError((await servers?.explained(error)) ?? error);
      const { invalid, hint = "" } = known.details;
      if (invalid === undefined && !hint.includes("{")) throw withSizeAdvice(known, command.options);
      const { inCommandWords } = await import("./command/operation-options.ts");
      throw await inCommandWords(known, { options: command.options, values });
    }
    // The user who pressed Ctrl-C knows; a program that reads errors may not.
    if (out.json) out.error(interruption);
    return exitCode;
  } finally {
    clearTimeout(patience);
    stopListening();
    if (exitCode === SIGNALS.SIGHUP) terminals.forEach(leaveTerminal);
  }
}

/** Node aborts where it cannot restore a terminal that is gone, unless it was closed. */
function leaveTerminal(fd: number): void {
  if (isatty(fd)) return;
  try {
    closeSync(fd);
  } catch {
    // It was closed before.
  }
}

interface Failed {
  command: Command;
  servers: ServerSet | undefined;
  context: Parameters<Command["run"]>[0];
}

/** Whether a command failed because a login was missing, and the user has logged in since. */
async function isLoggedInNow(error: unknown, { command, servers, context }: Failed): Promise<boolean> {
  const isRefused = error instanceof NexusError && error.code === "AUTH_REQUIRED";
  // Only commands that use a server and change nothing else, and no call that was already made.
  const isSafe = "stdio" in command.options && context.options["repeat"] === undefined;
  if (!isRefused || !servers || !context.out.isInteractive || !isSafe) return false;
  const { offerLogin } = await import("./login/offer-login.ts");
  return offerLogin(error, servers, context);
}

function flagsOf(values: ParsedOptions["values"]): Flags {
  const { timeout, config } = values;
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
  if (timeout !== undefined && !timeoutMs) {
    throw new NexusError("ARGUMENTS_INVALID", `--timeout "${String(timeout)}" is not a duration`, {
      hint: "Use 30s, 2m or 500ms.",
    });
  }
  return {
    json: values["json"] === true,
    verbose: values["verbose"] === true,
    trust: values["trust"] === true,
    config: typeof config === "string" ? config : undefined,
    timeoutMs,
  };
}

/** Only before `--`, after which everything is a word. */
function isAsked(args: readonly string[], flag: string): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes(flag);
}

function isGroup(word: string | undefined): word is string {
  return Object.keys(CATALOG).some((name) => name.startsWith(`${word} `));
}

function summaries(group: string | undefined): { name: string; section: string; summary: string }[] {
  return listedCommands()
    .filter(([name]) => group === undefined || name.startsWith(`${group} `))
    .map(([name, { section, summary }]) => ({ name, section, summary }));
}

/** The commands that send a request which is known by its name in the protocol. */
const COMMANDS_OF_METHODS: Readonly<Record<string, string | undefined>> = {
  "tools/call": "mcp call",
  "tools/list": "mcp tools",
  "resources/read": "mcp read",
  "resources/list": "mcp resources",
  "prompts/get": "mcp prompt",
  "prompts/list": "mcp prompts",
};

function unknownCommand(words: readonly string[]): NexusError {
  const isInGroup = isGroup(words[0]) && words.length > 1;
  const given = words.slice(0, isInGroup ? 2 : 1).join(" ");
  const names = listedCommands().map(([name]) => name);
  const groups = names.map((name) => name.split(" ")[0] ?? name);
  // The group may be left out: "nexus tools" suggests "nexus mcp tools".
  const inGroup = names.find((name) => name === `mcp ${given}`);
  // "nexus api call" suggests "nexus mcp call"; what several groups have says nothing.
  const [elsewhere, another] = isInGroup ? names.filter((name) => name.split(" ").at(-1) === words[1]) : [];
  const method = COMMANDS_OF_METHODS[words[isInGroup ? 1 : 0] ?? ""];
  const near =
    method ??
    inGroup ??
    (another === undefined ? elsewhere : undefined) ??
    nearestName(given, [
      ...new Set(isInGroup ? names.filter((name) => name.startsWith(`${words[0]} `)) : [...names, ...groups]),
    ]);
  const lists = isInGroup ? `nexus ${words[0]} --help` : "nexus --help";
  return new NexusError("ARGUMENTS_INVALID", `There is no command "nexus ${given}"`, {
    hint: near === undefined ? `"${lists}" lists them.` : `Did you mean "nexus ${near}"? "${lists}" lists them all.`,
  });
}

function tell(out: Output, value: unknown): number {
  out.value(value);
  return 0;
}

function say(out: Output, text: string): number {
  out.advice(text);
  return 0;
}
