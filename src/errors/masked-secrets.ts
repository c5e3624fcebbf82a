/** What stands in the place of a secret. */
export const MASK = "•••";
const SECRET = "(?:token|secret|passw|api-?_?key|access-?_?key|private-?_?key|credential|auth)";
const SECRET_OPTION = new RegExp(`^--?[\\w-]*${SECRET}[\\w-]*$`, "i");
const SECRET_PAIR = new RegExp(`^((?:--?)?[\\w.-]*${SECRET}[\\w.-]*\\s*[=:]\\s*)(.+)$`, "is");
const SECRET_HEADER = new RegExp(`^["']?[\\w.-]*${SECRET}[\\w.-]*:$`, "i");

const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"]|['"])+/g;

/** The words of a command; what looks secret among them is masked, variables stay by their names. */
export function maskedWords(words: readonly string[]): string[] {
  let isHeader = false;
  return words.map((word, index) => {
    const before = words[index - 1] ?? "";
    // "Authorization: Bearer abc" without its quotes: secret as far as the next option.
    isHeader = (isHeader && !word.startsWith("-")) || SECRET_HEADER.test(before);
    if (isHeader && word.trim() !== "") return masked(word);
    return SECRET_OPTION.test(before) && !word.startsWith("-") ? masked(word) : maskedPair(word);
  });
}

/** What `maskedWords` leaves out of them. */
export function secretsInWords(words: readonly string[]): string[] {
  const shown = maskedWords(words);
  return words.flatMap((word, index) => leftOut(word, shown[index] ?? word));
}

function leftOut(text: string, shown: string): string[] {
  if (text === shown) return [];
  const parts = shown.split(MASK).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("([^]*?)")}$`).exec(text)?.slice(1) ?? [];
}

/** The same for a command in one line, quotes and all. */
export function maskedCommand(line: string): string {
  const words = line.match(WORD) ?? [];
  // Nothing to take apart, as in a text with quotes around all of it.
  if (words.length === 1 && words[0] === line && unquoted(line) === line) return withoutDefaults(maskedUrl(line));
  const shown = maskedWords(words.map(unquoted)).map((word, index) => {
    const written = words[index] ?? "";
    return word === unquoted(written)
      ? written
      : /\s/.test(word)
        ? `${quoteOf(written)}${word}${quoteOf(written)}`
        : word;
  });
  let next = 0;
  return line.replaceAll(WORD, () => shown[next++] ?? "");
}

/** Without user, password and what stands in the query: people put keys there. */
export function maskedUrl(text: string): string {
  if (!/^(?:https?|wss?):\/\//i.test(text)) return text;
  return withoutDefaults(text)
    .replace(/^(\w+:\/\/)[^/?#]*@/, `$1${MASK}@`)
    .replaceAll(/([?&][^=&#]+=)([^&#]+)/g, (_all, name: string, value: string) => `${name}${masked(value)}`);
}

/** Names of variables stay, all else goes. */
export function masked(value: string): string {
  const references = value.match(/\$\{[^{}]*\}/g);
  return references ? withoutDefaults(references.join(" ")) : MASK;
}

/** What a variable is worth where it is not set may be secret, too. */
export function withoutDefaults(text: string): string {
  return text.replaceAll(/(\$\{[\w:.-]+?:-)[^{}]*\}/g, `$1${MASK}}`);
}

function maskedPair(word: string): string {
  const [, name, value] = SECRET_PAIR.exec(word) ?? [];
  if (name !== undefined && value !== undefined) return `${name}${masked(value)}`;
  // A command may hold another one: sh -c "server --token abc".
  return /\s/.test(word) ? maskedCommand(word) : withoutDefaults(maskedUrl(word));
}

function unquoted(word: string): string {
  return /^(['"])([^]*)\1$/.exec(word)?.[2] ?? word;
}

function quoteOf(word: string): string {
  return /^['"]/.exec(word)?.[0] ?? "";
}
