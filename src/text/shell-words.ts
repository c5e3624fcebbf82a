interface ShellWords {
  words: string[];
  /** A quote that is not closed. */
  open: string | undefined;
}

/** Splits a command line into words: quotes keep together what they surround, and a backslash keeps what follows it. */
export function splitShellWords(text: string, platform: NodeJS.Platform): ShellWords {
  const words: string[] = [];
  let word: string | undefined;
  let open: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    // On Windows, backslashes are part of paths.
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

/** The words of a command line in a file. Where a quote is not closed, the quotes are part of the words. */
export function splitCommandLine(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const { words, open } = splitShellWords(text, platform);
  return open === undefined ? words : text.split(/\s+/).filter((word) => word !== "");
}

/** One word as it has to be typed into a shell: quoted where that is necessary. */
export function quoteWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // PowerShell and POSIX shells both use single quotes, but escape them differently.
  return platform === "win32" ? `'${word.replaceAll("'", "''")}'` : quoteForPosix(word);
}

/** A path as it has to be typed; the `~` of a home folder means it only outside of quotes. */
export function quotePath(path: string, platform: NodeJS.Platform = process.platform): string {
  return path.startsWith("~/") ? `~/${quoteWord(path.slice(2), platform)}` : quoteWord(path, platform);
}

export function quoteForPosix(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function quoteForCmd(text: string): string {
  return `"${text.replaceAll('"', String.raw`\"`).replaceAll("%", "%%")}"`;
}

/** A URL quoted for any shell of the platform, where `&` and `?` have a meaning. */
export function quoteUrl(url: string, platform: NodeJS.Platform): string {
  if (/^[\w:/.-]+$/.test(url)) return url;
  return platform === "win32" ? `"${url.replaceAll('"', "%22")}"` : `'${url.replaceAll("'", "%27")}'`;
}
