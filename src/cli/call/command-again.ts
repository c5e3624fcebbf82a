import { quoteWord } from "../../text/shell-words.ts";
import { shownValue } from "../command/in-place.ts";

export interface Again {
  /** `mcp call` */
  command: string;
  words: readonly string[];
  /** As given, including flags. */
  options: Readonly<Record<string, unknown>>;
  without?: readonly string[];
  plus?: readonly string[];
}

/** The given command line as it would be typed, with some options removed and others added. */
export function commandAgain({ command, words, options, without = [], plus = [] }: Again): string {
  const repeated = Object.entries(options)
    .filter(([name, value]) => !without.includes(name) && value !== undefined && value !== false)
    .flatMap(([name, value]) => {
      if (value === true) return [`--${name}`];
      return [value].flat().flatMap((each) => [`--${name}`, quoteWord(shownValue(name, String(each)))]);
    });
  return ["nexus", command, ...words.map((word) => quoteWord(word)), ...plus, ...repeated].join(" ");
}
