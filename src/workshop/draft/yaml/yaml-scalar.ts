/** Words that readers of YAML 1.1 or 1.2 take for something other than text. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i;

/** Text that needs no quotes, also inside of braces and brackets. */
const PLAIN = /^\p{L}[\p{L}\p{N} _./()+;'=<>$%^~#:@&*!?|…–-]*$/u;

/** Outside of them, text may also have these. */
const BLOCK_PLAIN = /^\p{L}[\p{L}\p{N} _./()+;'=<>$%^~#:@&*!?|…–,[\]{}"-]*$/u;

/**
 * Characters that JSON does not escape, and that some readers of YAML take for line breaks or refuse; and those that
 * nobody sees or that change the direction of the text, so that reviewers would read something else than is there.
 */
const ODD = /[\u007f-\u009f\u2028\u2029\ufff9-\ufffb\ufffe\uffff]|(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu;

/** A single value on one line. `flow`: inside of braces or brackets. */
export function yamlScalar(value: unknown, flow: boolean): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  if (isPlain(value, flow)) return value;
  return quoted(value);
}

function isPlain(text: string, flow: boolean): boolean {
  if (text.length > 2_000 || !(flow ? PLAIN : BLOCK_PLAIN).test(text) || WORDS.test(text)) return false;
  // Some letters are not seen either.
  if (text.search(ODD) !== -1) return false;
  return !/: |:$| #|\s$/.test(text);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(ODD, escaped);
}

function escaped(sign: string): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16);
  return sign.length === 1 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}

/** Whether a text can stand in a block of lines as it is. */
function isBlockText(text: string): boolean {
  return /^\S/.test(text) && /\S$/.test(text) && !/[^\P{Cc}\n]/u.test(text) && text.search(ODD) === -1;
}

/**
 * A text as a block of lines, each with the indentation; undefined if it has to be quoted. A text of several lines is
 * kept as it is, a long one is folded at blanks.
 */
export function yamlBlockText(text: string, indent: string, width: number): string[] | undefined {
  if (!isBlockText(text) || /\p{Cs}/u.test(text)) return undefined;
  if (text.includes("\n")) return ["|-", ...text.split("\n").map((line) => (line === "" ? "" : indent + line))];
  const room = Math.max(width - indent.length, 40);
  const lines: string[] = [];
  let line = "";
  // A fold stands for one blank, so only single blanks can be folded.
  for (const word of text.split(/(?<=\S) (?=\S)/)) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [">-", ...lines, indent + line];
}
