import type { PromptCommand } from "../../host/registry.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { splitShellWords } from "../../text/shell-words.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ChatState } from "./chat-state.ts";

/** What a command makes the chat do next. */
type SlashOutcome = void | { kind: "exit" } | { kind: "send"; parts: ChatState["attached"] };

/** A command that a person types into the chat. */
export interface SlashCommand {
  /** `/mcp connect` */
  name: string;
  /** Its arguments: `<server>`. */
  usage: string;
  help: string;
  /** The number of its arguments. */
  words: { min: number; max: number };
  run(words: readonly string[], state: ChatState, signal: AbortSignal): Promise<SlashOutcome> | SlashOutcome;
  /** What may stand in place of the last word. */
  complete?(words: readonly string[], state: ChatState): readonly string[];
}

/** Whether a message is a command: a path such as /home/ada/notes is not. */
export function isSlashCommand(text: string): boolean {
  return /^\/[^\s/]*(?:\s|$)/.test(text);
}

/** The command with the longest name that the words begin with. */
export function findSlashCommand(
  text: string,
  commands: readonly SlashCommand[],
): { command: SlashCommand; words: string[] } {
  const { words, open } = splitShellWords(text, "linux");
  if (open !== undefined) throw wrongUsage(`The text has an unclosed ${open}`, "Close the quote, or remove it.");
  const named = [...commands].sort((a, b) => b.name.length - a.name.length);
  const command = named.find(({ name }) => isPrefix(name.split(" "), words));
  if (!command) throw unknownCommand(words, commands);
  const given = words.slice(command.name.split(" ").length);
  const { min, max } = command.words;
  if (command.name === "/mcp" && given[0] !== undefined) throw unknownCommand(words, commands);
  if (given.length < min || given.length > max) {
    throw wrongUsage(`Usage: ${command.name} ${command.usage}`.trimEnd());
  }
  return { command, words: given };
}

function isPrefix(name: readonly string[], words: readonly string[]): boolean {
  return name.every((word, at) => words[at] === word);
}

function unknownCommand(words: readonly string[], commands: readonly SlashCommand[]): NexusError {
  const [first = "", second] = words;
  const names = commands.map(({ name }) => name);
  if (first !== "/mcp" || second === undefined) {
    const near = nearestName(first, names);
    return noCommand(first, near, "/help lists them all.");
  }
  const parts = names.filter((name) => name.startsWith("/mcp ")).map((name) => name.slice(5));
  // Without "/mcp", which would make any two short words similar.
  const near = nearestName(second, parts);
  return noCommand(`/mcp ${second}`, near && `/mcp ${near}`, `Commands of /mcp: ${parts.join(", ")}.`);
}

function noCommand(given: string, near: string | undefined, all: string): NexusError {
  return wrongUsage(`There is no command ${given}`, near === undefined ? all : `Did you mean ${near}? ${all}`);
}

/** The words that complete a command before the cursor. */
export function completeSlash(
  text: string,
  commands: readonly SlashCommand[],
  state: ChatState,
): { words: string[]; length: number } {
  const before = text.trimStart();
  if (!before.startsWith("/") || before.includes("\n")) return { words: [], length: 0 };
  const last = /\S*$/.exec(before)?.[0] ?? "";
  const typed = before
    .slice(0, before.length - last.length)
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const names = commands.map(({ name }) => name.split(" "));
  const next = names
    .filter((name) => name.length > typed.length && isPrefix(typed, name))
    .map((name) => name[typed.length] ?? "");
  const command = [...commands]
    .sort((a, b) => b.name.length - a.name.length)
    .find(({ name }) => typed.length > 0 && isPrefix(name.split(" "), typed));
  const given = command ? [...typed.slice(command.name.split(" ").length), last] : [];
  const values = command && given.length <= command.words.max ? (command.complete?.(given, state) ?? []) : [];
  const words = [...new Set([...next, ...values])].filter((word) => word.startsWith(last)).sort();
  return { words, length: last.length };
}

/** The values of a typed command: by name if all of them are `name=value` of arguments, otherwise in their order. */
export function promptValues(
  words: readonly string[],
  { arguments: parameters }: Pick<PromptCommand, "arguments">,
): Record<string, string> | string[] {
  const pairs = words.map((word) => [word.split("=")[0] ?? "", word.slice(word.indexOf("=") + 1)] as const);
  const isNamed = pairs.every(
    ([name], at) => words[at]?.includes("=") && parameters.some((each) => each.name === name),
  );
  if (isNamed) return Object.fromEntries(pairs);
  // The last argument takes the rest of the line, so that a text needs no quotes.
  const last = parameters.length - 1;
  return last >= 0 && words.length > parameters.length
    ? [...words.slice(0, last), words.slice(last).join(" ")]
    : [...words];
}
