/** The words of a kind of file that are not secret. */
export interface KnownWords {
  /** Its own names and values, anywhere. */
  isName(word: string): boolean;
  /** Names whose values are not secret and often wrong. */
  isShown(name: string): boolean;
}

/** Enough to know whether a part of a very long line is inside a string. */
const RUN_UP = 64 * 1024;

/** A quoted string, possibly unclosed; a word; or one punctuation mark or space. */
const TOKEN = /(["'])((?:\\.|(?!\1)[^\\])*)(\1|\\?$)|[^\s"'{}[\],:=]+(?:[:=][^\s"'{}[\],]+)*|[\s\S]/;

/**
 * A part of a line for an excerpt, which may end in a bug report. Everything that is not a name or known to be harmless
 * may be secret and is masked at its full length. Text over several lines is also masked.
 */
export function maskedLine(line: string, { from, to, words }: { from: number; to: number; words: KnownWords }): string {
  const first = Math.max(0, from - RUN_UP);
  const text = line.slice(first, to + RUN_UP);
  const end = to - first;
  let shown = "";
  let name: string | undefined;
  // A name is at the start of a line or object, or after something that ended; a list has none.
  let mayBeName = true;
  const open: string[] = [];
  const tokens = new RegExp(TOKEN, "y");
  for (let at = 0; at < end && at < text.length; at = tokens.lastIndex) {
    const [token = "", quote, inner = ""] = tokens.exec(text) ?? [];
    if (token === "") break;
    const word = quote === undefined ? token : inner;
    if (/^[\s:=]$/.test(token) || (token === "-" && mayBeName)) {
      shown += token;
    } else if (quote === undefined && /^[{}[\],]$/.test(token)) {
      shown += token;
      if (token === "[" || token === "{") open.push(token);
      else if (token !== ",") open.pop();
      // The first word of a list is the command itself.
      [name, mayBeName] = [token === "[" ? name : undefined, open.at(-1) !== "["];
    } else if (words.isName(word) || (mayBeName && isName(text, tokens.lastIndex, quote))) {
      shown += token;
      [name, mayBeName] = [open.at(-1) === "[" ? undefined : word, false];
    } else {
      shown += name !== undefined && words.isShown(name) ? firstWord(token) : hidden(token);
      [name, mayBeName] = [undefined, false];
    }
  }
  return shown.slice(from - first, end);
}

/** Whether a sign follows that names are followed by; unquoted `a:b` and `YWI=` can be anything. */
function isName(text: string, end: number, quote: string | undefined): boolean {
  const after = text.slice(end, end + 100);
  return quote === undefined ? /^(?::(?=\s|$)|\s*=\s*(?=[^\s=]))/.test(after) : /^\s*[:=]/.test(after);
}

/** The first word only: a command may contain its arguments, which may be secret. */
function firstWord(token: string): string {
  const end = token.search(/(?<=[^\s"'])\s/);
  // As in a shell, variables may come before the program.
  if (token.slice(0, end === -1 ? undefined : end).includes("=")) return hidden(token);
  return end === -1 ? token : token.slice(0, end) + hidden(token.slice(end));
}

/** Quotes, spaces and short numbers are not masked. */
function hidden(token: string): string {
  return /^\d{1,5}$/.test(token) ? token : token.replaceAll(/[^\s"']/g, "*");
}
