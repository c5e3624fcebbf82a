import { wrongUsage } from "../command-line.ts";

/** A command as people type it, in words: quotes keep together what they surround, a backslash what follows it. */
export function splitWords(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    // Backslashes are what paths are made of on Windows.
    if (character === "\\" && quote !== "'" && platform !== "win32" && at + 1 < text.length) {
      word = (word ?? "") + (text[++at] ?? "");
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === quote) {
      quote = undefined;
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== undefined) throw wrongUsage(`${text} has a ${quote} that is not closed`, "Close it, or leave it out.");
  return word === undefined ? words : [...words, word];
}

/** One word as it has to be typed into a shell. */
export function quoteWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // PowerShell and POSIX shells both take single quotes; inside them, each writes one in its own way.
  return platform === "win32" ? `'${word.replaceAll("'", "''")}'` : `'${word.replaceAll("'", `'\\''`)}'`;
}
