export interface CommandWords {
  words: string[];
  /** A quote that is not closed. */
  open: string | undefined;
}

/** A command line in words: quotes keep together what they surround, and a backslash what follows it. */
export function commandWordsOf(text: string, platform: NodeJS.Platform): CommandWords {
  const words: string[] = [];
  let word: string | undefined;
  let open: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    // Backslashes are what paths are made of on Windows.
    if (character === "\\" && open !== "'" && platform !== "win32" && at + 1 < text.length) {
      word = (word ?? "") + (text[++at] ?? "");
    } else if (open === undefined && (character === '"' || character === "'")) {
      open = character;
      word ??= "";
    } else if (character === open) {
      open = undefined;
    } else if (open === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  return { words: word === undefined ? words : [...words, word], open };
}
