import { mayBeSecretName } from "./secret-names.ts";

/** What is shown instead of a secret. */
export const MASK = "•••";

// The patterns run on untrusted files: no two parts of one may match the same characters.
const OPTION = /^--?[\w-]+$/;
const PAIR = /^([\w.-]*)(\s*[=:]\s*)([^]+)$/;
/** Without any of these a word is no pair, address, variable or command. */
const PARTED = /[=:\s$]/;
const HEADER = /^(?:--?[\w-]+=)?["']?[\w.-]+:$/;

/** Masks the words of a command that look secret; names of variables stay. */
export function maskWords(words: readonly string[]): string[] {
  let isHeader = false;
  return words.map((word, index) => {
    const before = words[index - 1] ?? "";
    // "Authorization: Bearer abc" without its quotes: secret up to the next option.
    isHeader = (isHeader && !word.startsWith("-")) || isSecret(HEADER, before);
    if (isHeader && word.trim() !== "") return maskValue(word);
    return isSecret(OPTION, before) && !word.startsWith("-") ? maskValue(word) : maskPair(word);
  });
}

/** The parts of the words that `maskWords` masks. */
export function secretsInWords(words: readonly string[]): string[] {
  const shown = maskWords(words);
  return words.flatMap((word, index) => leftOut(word, shown[index] ?? word));
}

function leftOut(text: string, shown: string): string[] {
  if (text === shown) return [];
  const parts = shown.split(MASK).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("([^]*?)")}$`).exec(text)?.slice(1) ?? [];
}

/** The same for a command in one line, with its quotes. */
export function maskCommand(line: string): string {
  const words = wordsIn(line);
  const written = words.map(({ start, end }) => line.slice(start, end));
  // There is nothing to split, for example if the whole text is quoted.
  if (written.length === 1 && written[0] === line && unquote(line) === line) return withoutDefaults(maskUrl(line));
  const shown = maskWords(written.map(unquote));
  let masked = "";
  let at = 0;
  for (const [index, { start, end }] of words.entries()) {
    masked += line.slice(at, start) + requote(shown[index] ?? "", written[index] ?? "");
    at = end;
  }
  return masked + line.slice(at);
}

const WEB = /^(?:https?|wss?):\/\//i;
const ADDRESS = /^[a-z][\w+.-]*:\/\//i;

/** Without user, password and query values, which often contain keys. A user without a password is shown, as in ssh://git@. */
export function maskUrl(text: string): string {
  if (!ADDRESS.test(text)) return text;
  const user = WEB.test(text) ? /^([\w+.-]+:\/\/)[^/?#]*@/ : /^([\w+.-]+:\/\/)[^/?#\s:@]*:[^/?#\s]*@/;
  return withoutDefaults(text)
    .replace(user, `$1${MASK}@`)
    .replaceAll(/([?&][^=&#?]*=)([^&#]+)/g, (_all, name: string, value: string) => `${name}${maskValue(value)}`);
}

/** Keeps names of variables and masks the rest. */
export function maskValue(value: string): string {
  const references = value.match(/\$\{[^{}]*\}/g);
  return references ? withoutDefaults(references.join(" ")) : MASK;
}

/** Without the defaults of variables, which may be secret as well. */
export function withoutDefaults(text: string): string {
  return text.replaceAll(/\$\{([^{}]*)\}/g, (reference, inside: string) => {
    const [name] = /^[\w:.-]+?:-/.exec(inside) ?? [];
    return name === undefined ? reference : `\${${name}${MASK}}`;
  });
}

function maskPair(word: string): string {
  if (!PARTED.test(word)) return word;
  const [, name = "", sign = "", value = ""] = PAIR.exec(word) ?? [];
  if (!ADDRESS.test(word) && mayBeSecretName(name)) return `${name}${sign}${maskValue(value)}`;
  if (!/\s/.test(word) && ADDRESS.test(value)) return `${name}${sign}${withoutDefaults(maskUrl(value))}`;
  // A pair in an option: --env=API_KEY=abc, "--header=Authorization: Bearer abc".
  const inner = unquote(value);
  if (OPTION.test(name) && isSecretPair(inner)) return name + sign + value.replace(inner, () => maskPair(inner));
  const pair = listIn(word);
  if (pair) return withoutDefaults(maskList(word, pair));
  // A command may contain another one: sh -c "server --token abc".
  return /\s/.test(word) ? maskCommand(word) : withoutDefaults(maskUrl(word));
}

function isSecretPair(text: string): boolean {
  const [, name = ""] = PAIR.exec(text) ?? [];
  return !ADDRESS.test(text) && mayBeSecretName(name);
}

/** Pairs as drivers of databases read them: `Server=db;Password=abc`; and as options have them: `user=ada,token=abc`. */
const SEMICOLONS = /(?<=^|;)([^;=]+)(=)([^;]*)/g;
const COMMAS = /(?<=^|,)([^,=]+)(=)([^,]*)/g;

/** How a list of pairs is read; undefined for a word that is none. */
function listIn(word: string): RegExp | undefined {
  const [, afterName] = word.split(/=(.*)/s);
  if (afterName?.includes(";")) return SEMICOLONS;
  return afterName?.includes(",") && !/\s/.test(word) && !ADDRESS.test(word) ? COMMAS : undefined;
}

function maskList(text: string, pair: RegExp): string {
  return text.replaceAll(pair, (all, name: string, sign: string, value: string) =>
    mayBeSecretName(name) && value !== "" ? `${name}${sign}${maskValue(value)}` : all,
  );
}

function isSecret(form: RegExp, word: string): boolean {
  return form.test(word) && mayBeSecretName(word);
}

interface WordPlace {
  start: number;
  end: number;
}

/** The positions of the words in a line. An unclosed quote counts as a letter. */
function wordsIn(line: string): WordPlace[] {
  const words: WordPlace[] = [];
  const parts = /\s+|[^\s'"]+|['"]/y;
  let start: number | undefined;
  // After an unclosed quote there is no closing one either: searching for each would take quadratic time.
  const isOpen = { "'": false, '"': false };
  while (parts.lastIndex < line.length) {
    const at = parts.lastIndex;
    const [part = ""] = parts.exec(line) ?? [];
    if (part.trim() === "") {
      if (start !== undefined) words.push({ start, end: at });
      start = undefined;
      continue;
    }
    start ??= at;
    if ((part !== "'" && part !== '"') || isOpen[part]) continue;
    const end = closingQuote(line, at, part);
    if (end === -1) isOpen[part] = true;
    else parts.lastIndex = end + 1;
  }
  if (start !== undefined) words.push({ start, end: line.length });
  return words;
}

/** In double quotes, a backslash escapes what follows it. */
function closingQuote(line: string, start: number, quote: string): number {
  if (quote === "'") return line.indexOf("'", start + 1);
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === '"') return at;
  }
  return -1;
}

function requote(word: string, written: string): string {
  if (word === unquote(written)) return written;
  return /\s/.test(word) ? `${quoteOf(written)}${word}${quoteOf(written)}` : word;
}

function unquote(word: string): string {
  return /^(['"])([^]*)\1$/.exec(word)?.[2] ?? word;
}

function quoteOf(word: string): string {
  return /^['"]/.exec(word)?.[0] ?? "";
}
