import { hanging } from "../output/text-width.ts";
import { FLAGS, IN_PLACE, type Command, type Options } from "./command.ts";

/** A command's help, for people; with `columns` broken between words. */
export function commandHelp(name: string, summary: string, command: Command, columns?: number): string {
  const room = columns && columns - 1;
  const { own, inPlace } = optionsOf(command);
  const all = { ...own, ...inPlace, ...FLAGS };
  const width = Math.max(...Object.entries(all).map((entry) => spelled(entry).length));
  const list = (title: string, options: Options) => {
    const rows = Object.entries(options).flatMap((entry) =>
      hanging(`  ${spelled(entry).padEnd(width)}  `, entry[1].help, room),
    );
    return rows.length === 0 ? [] : ["", `${title}:`, ...rows];
  };
  return [
    ...hanging("", `nexus ${name} – ${summary}`, room),
    "",
    ...hanging("Usage: ", command.usage, room),
    ...(command.description === undefined ? [] : ["", ...paragraphs(command.description.trim(), room)]),
    ...list("Options", own),
    ...list("Use a server that is not configured", inPlace),
    ...list("Global options", FLAGS),
    "",
    "Examples:",
    ...command.examples.flatMap(([line, meaning]) => [`  ${line}`, ...hanging("      ", meaning, room)]),
  ].join("\n");
}

/** Paragraphs are filled again; lists and examples keep their lines. */
function paragraphs(text: string, width: number | undefined): string[] {
  const lines = text.split("\n");
  if (width === undefined || lines.every((line) => line.length <= width)) return lines;
  return text.split("\n\n").flatMap((paragraph, at) => {
    const isProse = paragraph.split("\n").every((line) => /^[\p{L}\p{N}"'`-]/u.test(line) && !line.startsWith("- "));
    const filled = isProse ? paragraph.replaceAll("\n", " ") : paragraph;
    const broken = filled.split("\n").flatMap((line) => {
      const lead = /^\s*(?:\S+\s{2,}|- )?/.exec(line)?.[0] ?? "";
      return hanging(lead, line.slice(lead.length), width);
    });
    return at === 0 ? broken : ["", ...broken];
  });
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
