import { FLAGS, type Command, type Option, type Options } from "../command/command.ts";

/** What is expected at the cursor. */
type ExpectedWord =
  /** A word of the command, by its index. */
  | { kind: "word"; index: number }
  /** The name of an option that can still be given. */
  | { kind: "option"; options: Options }
  /** The value of an option; `prefix` comes before it in the same word. */
  | { kind: "value"; name: string; option: Option; prefix: string }
  /** After `--`. */
  | { kind: "rest" };

export interface Situation {
  expected: ExpectedWord;
  /** The values given so far. */
  given: ReadonlyMap<string, string>;
  /** The words given so far, after the command's name. */
  spoken: readonly string[];
}

/** Finds what is expected after `words`, of which the first `own` are the command's name. */
export function expectedWord(
  { words, current, own }: { words: readonly string[]; current: string; own: number },
  command: Pick<Command, "options">,
): Situation {
  const options: Options = { ...FLAGS, ...command.options };
  const given = new Map<string, string>();
  const positionals: string[] = [];
  const situation = (expected: ExpectedWord): Situation => ({ expected, given, spoken: positionals.slice(own) });
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return situation({ kind: "rest" });
    const { name, value, option } = optionIn(word, options) ?? {};
    if (name === undefined) positionals.push(word);
    else if (option?.type !== "string" || value !== undefined) given.set(name, value ?? "");
    else if (at + 1 === words.length) return situation({ kind: "value", name, option, prefix: "" });
    else given.set(name, words[++at] ?? "");
  }

  const { name, value, option } = optionIn(current, options) ?? {};
  if (name !== undefined && value !== undefined && option?.type === "string") {
    return situation({ kind: "value", name, option, prefix: `--${name}=` });
  }
  if (current.startsWith("-")) {
    const open = Object.entries(options).filter(([key, { multiple }]) => multiple || !given.has(key));
    return situation({ kind: "option", options: Object.fromEntries(open) });
  }
  return situation({ kind: "word", index: positionals.length - own });
}

interface WrittenOption {
  name: string;
  value: string | undefined;
  /** Undefined if the command has no option of that name. */
  option: Option | undefined;
}

function optionIn(word: string, options: Options): WrittenOption | undefined {
  const [, dashes, written, , value] = /^(--?)([\w-]+)(=([\s\S]*))?$/.exec(word) ?? [];
  if (written === undefined) return undefined;
  const [name, option] =
    Object.entries(options).find(([key, { short }]) => (dashes === "--" ? key : short) === written) ?? [];
  return { name: name ?? written, value, option };
}
