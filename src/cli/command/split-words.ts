import { commandWordsOf } from "../../text/command-words.ts";
import { wrongUsage } from "./command-line.ts";

/** A command as people type it, in words. */
export function splitWords(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const { words, open } = commandWordsOf(text, platform);
  if (open !== undefined) throw wrongUsage(`${text} has a ${open} that is not closed`, "Close it, or leave it out.");
  return words;
}

/** One word as it has to be typed into a shell. */
export function quoteWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // PowerShell and POSIX shells both take single quotes; inside them, each writes one in its own way.
  return platform === "win32" ? `'${word.replaceAll("'", "''")}'` : `'${word.replaceAll("'", `'\\''`)}'`;
}
