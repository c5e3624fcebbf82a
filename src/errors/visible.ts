const CONTROL =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b\u200c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|(?<![\p{ExtPict}\p{EMod}]\ufe0f?)\u200d|\u200d(?!\p{ExtPict})/gu;

/**
 * One line of text from outside: control characters must not steer the terminal, nor turn the direction of the text, and
 * what has no width must not make two names look alike. The joiner within an emoji is part of it.
 */
export function visible(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The same for text of many lines. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join("\n");
}
