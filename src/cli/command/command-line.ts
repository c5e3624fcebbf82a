import { parseArgs } from "node:util";
import { splitShellWords } from "../../text/shell-words.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FLAGS, IN_PLACE, TENANT, type Command, type Options } from "./command.ts";

export interface ParsedOptions {
  /** The words after the command's name. */
  words: string[];
  values: Record<string, string | boolean | string[] | undefined>;
}

/** Options of commands that may come before the command. */
const EARLY: Options = {
  ...FLAGS,
  ...IN_PLACE,
  ...TENANT,
  server: { type: "string", help: "" },
  version: { type: "boolean", help: "" },
};

/** The words of a command line, before the command is known. */
export function commandWords(args: readonly string[]): string[] {
  return parseArgs({ args: [...args], options: parsable(EARLY), strict: false, allowPositionals: true }).positionals;
}

/** Throws for options that no command has, if there is no command. */
export function requireEarlyOptions(args: readonly string[], group: string | undefined): void {
  const { tokens } = parseArgs({
    args: [...args],
    options: parsable(EARLY),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const program = group === undefined ? "nexus" : `nexus ${group}`;
  for (const token of tokens) {
    if (token.kind !== "option" || Object.hasOwn(EARLY, token.name)) continue;
    throw wrongUsage(
      `"${program}" has no option ${token.rawName}`,
      `${meant(token.name, EARLY)}"${program} --help" lists the commands.`,
    );
  }
}

/** Parses the options of a command; reports mistakes with what was probably meant. */
export function parseOptions(args: readonly string[], name: string, command: Command): ParsedOptions {
  const options: Options = { ...FLAGS, ...command.options };
  const usage = `See "nexus ${name} --help". Usage: ${command.usage}`;
  const { tokens } = parseArgs({
    args: withEmptyValues(args, options),
    options: parsable(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: ParsedOptions["values"] = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (!option) {
      const advice = afterDashes(token.rawName, words, command) ?? meant(token.name, options) + usage;
      throw wrongUsage(`"nexus ${name}" has no option ${token.rawName}`, advice);
    }
    values[token.name] = valueOf(token, option, values[token.name]);
  }
  const own = name.split(" ").length;
  if (words[0] === "help") words.shift();
  const given = words.slice(own);
  const { min, max } = command.words ?? wordsOf(command.usage, name);
  if (given.length < min) throw wrongUsage(`"nexus ${name}" needs ${missingWord(command, given, values)}`, usage);
  if (given.length > max) throw wrongUsage(`"nexus ${name}" has one argument too many: "${given[max]}"`, usage);
  return { words: given, values };
}

/** An option whose value may be left out gets an empty one, where another option or nothing follows. */
function withEmptyValues(args: readonly string[], options: Options): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const isOptional = arg.startsWith("--") && options[arg.slice(2)]?.optional === true;
    const next = args[at + 1];
    const isAlone = next === undefined || next.startsWith("-");
    return isOptional && isAlone && (end === -1 || at < end) ? `${arg}=` : arg;
  });
}

/** In `nexus mcp add files npx -y …` the option belongs to the server's command, which must follow `--`. */
function afterDashes(option: string, words: readonly string[], { usage }: Command): string | undefined {
  const [group, verb, name, program] = words;
  if (program === undefined || !usage.includes("-- COMMAND")) return undefined;
  return `If ${option} is an option of ${program}, write -- before the command: nexus ${group} ${verb} ${name} -- ${program} …`;
}

/** How many words follow the name of a command: `<server>` is one, `[uri]…` any number. What follows `--` is free. */
function wordsOf(usage: string, name: string): { min: number; max: number } {
  const [own = "", free] = usage.slice(`nexus ${name}`.length).split(/ --(?: |$)/);
  const places = own
    .replaceAll(/\[--?\w[^\]]*\]…?/g, "")
    .replaceAll(/ --?\w[\w-]*(?: (?:[A-Z]\S*|\S+=\S+|\d\S*))?/g, "")
    .matchAll(/\[[^\]]*\]…?|<[^>]*>\S*/g);
  let [min, max] = [0, free === undefined ? 0 : Infinity];
  for (const [place] of places) {
    if (place.startsWith("<")) min++;
    max += place.includes("…") ? Infinity : place.split(" ").length;
  }
  return { min, max };
}

/** The missing word of the usage: `<server>`. */
function missingWord({ usage }: Command, given: readonly string[], { stdio, url }: ParsedOptions["values"]): string {
  const words = [...usage.matchAll(/<[^>]+>/g)].map(([word]) => word);
  // A server in place is not named.
  const wanted = stdio === undefined && url === undefined ? words : words.filter((word) => word !== "<server>");
  return wanted[given.length] ?? "another argument";
}

interface OptionToken {
  name: string;
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

function valueOf(
  { rawName, value, inlineValue }: OptionToken,
  { type, multiple, value: shown }: Options[string],
  before: ParsedOptions["values"][string],
): string | boolean | string[] {
  if (type === "boolean") {
    if (value !== undefined && inlineValue)
      throw wrongUsage(`${rawName} does not take a value`, `Write ${rawName} without a value.`);
    return true;
  }
  // A value that looks like an option was probably not meant, unless it is written with "=".
  if (value === undefined || (!inlineValue && value.startsWith("--"))) {
    throw wrongUsage(`${rawName} needs a value`, `Use ${rawName} ${shown ?? "VALUE"}.`);
  }
  if (multiple) return [...(Array.isArray(before) ? before : []), value];
  if (before !== undefined) throw wrongUsage(`${rawName} is specified twice`, "Specify it once.");
  return value;
}

function meant(name: string, options: Options): string {
  const near = nearestName(name, Object.keys(options));
  return near === undefined ? "" : `Did you mean --${near}? `;
}

function parsable(options: Options): Record<string, { type: "string" | "boolean"; short?: string; multiple: true }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => {
      return [name, short === undefined ? { type, multiple: true as const } : { type, short, multiple: true as const }];
    }),
  );
}

export function wrongUsage(message: string, hint?: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}

/** Splits a typed command into words. */
export function splitWords(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const { words, open } = splitShellWords(text, platform);
  if (open !== undefined) throw wrongUsage(`${text} has an unclosed ${open}`, "Close the quote, or remove it.");
  return words;
}

/** Whether a command is about a gateway elsewhere. Without one, --key has no use. */
export function isElsewhere<C extends { options: { gateway?: string | undefined; key?: string | undefined } }>(
  context: C,
): context is C & { options: { gateway: string } } {
  const { gateway, key } = context.options;
  if (gateway === undefined && key !== undefined) {
    throw wrongUsage("--key is only for --gateway", "Add --gateway URL, or remove --key.");
  }
  return gateway !== undefined;
}

/** Throws for a view that does not exist: how tools are shown, if not in a list of all. */
export function readView(given: string | undefined): "search" | undefined {
  if (given === undefined || given === "search") return given;
  throw wrongUsage(`--view "${given}" is not a view`, "Use --view search, or remove it to list all tools.");
}
