import { FLAGS, IN_PLACE, type Command, type Options } from "./command.ts";

/** A command's help, for people. */
export function commandHelp(name: string, summary: string, command: Command): string {
  const { own, inPlace } = optionsOf(command);
  const all = { ...own, ...inPlace, ...FLAGS };
  const width = Math.max(...Object.entries(all).map((entry) => spelled(entry).length));
  const list = (title: string, options: Options) => {
    const rows = Object.entries(options).map((entry) => `  ${spelled(entry).padEnd(width)}  ${entry[1].help}`);
    return rows.length === 0 ? [] : ["", `${title}:`, ...rows];
  };
  return [
    `nexus ${name} – ${summary}`,
    "",
    `Usage: ${command.usage}`,
    ...(command.description === undefined ? [] : ["", command.description.trim()]),
    ...list("Options", own),
    ...list("Use a server that is not configured", inPlace),
    ...list("Global options", FLAGS),
    "",
    "Examples:",
    ...command.examples.flatMap(([line, meaning]) => [`  ${line}`, `      ${meaning}`]),
  ].join("\n");
}

/** The same for programs. */
export function commandFacts(name: string, summary: string, command: Command): Record<string, unknown> {
  const { usage, description, examples } = command;
  const { own, inPlace } = optionsOf(command);
  const list = (options: Options) =>
    Object.entries(options).map((entry) => ({ option: spelled(entry).trim(), help: entry[1].help }));
  return {
    name,
    summary,
    usage,
    description: description?.trim(),
    options: list(own),
    inPlace: list(inPlace),
    flags: list(FLAGS),
    examples: examples.map(([line, meaning]) => ({ command: line, meaning })),
  };
}

function optionsOf({ options }: Command): { own: Options; inPlace: Options } {
  const entries = Object.entries(options);
  // "mcp add" has options with the same names but another meaning.
  const shared = new Set<unknown>(Object.values(IN_PLACE));
  return {
    own: Object.fromEntries(entries.filter(([, option]) => !shared.has(option))),
    inPlace: Object.fromEntries(entries.filter(([, option]) => shared.has(option))),
  };
}

function spelled([name, { short, value }]: [string, Options[string]]): string {
  return `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}
