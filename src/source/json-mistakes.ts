interface JsonMistake {
  what: string;
  /** Where there is more to say than what is wrong. */
  hint?: string;
}

const QUOTES = `Text and names stand in double quotes: "command": "node". Only numbers, true, false and null do without.`;

/** The mistakes that the parser knows, in words. */
export const JSON_MISTAKES: Record<string, JsonMistake> = {
  InvalidSymbol: { what: "this is no value; text stands in double quotes", hint: QUOTES },
  InvalidNumberFormat: { what: "this is no number" },
  PropertyNameExpected: { what: "a name in double quotes is expected here", hint: QUOTES },
  ValueExpected: { what: "a value is expected here", hint: `Write one, or "" for none, or delete the name before it.` },
  ColonExpected: { what: "a colon is missing here", hint: `Write "name": value, with a colon between the two.` },
  CommaExpected: { what: "a comma is missing before this", hint: "Put a comma at the end of what stands before it." },
  CloseBraceExpected: {
    what: "a } is missing here",
    hint: "Some { before this was never closed: add a } where its part ends.",
  },
  CloseBracketExpected: {
    what: "a ] is missing here",
    hint: "Some [ before this was never closed: add a ] where its list ends.",
  },
  EndOfFileExpected: {
    what: "the file should have ended before this",
    hint: "A } too many closed everything before this: delete it, or move this inside.",
  },
  UnexpectedEndOfComment: { what: "this comment does not end", hint: "Write */ where it ends." },
  UnexpectedEndOfString: {
    what: "this text does not end; its closing quote is missing",
    hint: String.raw`Write a " at its end, in the same line; a quote inside of a text is written \".`,
  },
  UnexpectedEndOfNumber: { what: "this number does not end" },
  InvalidUnicode: { what: "\\u must be followed by four hexadecimal digits", hint: backslash() },
  InvalidEscapeCharacter: { what: "this text has a backslash that means nothing", hint: backslash() },
  InvalidCharacter: {
    what: "this text has a control character in it",
    hint: String.raw`Write \t for a tab and \n for a new line.`,
  },
};

function backslash(): string {
  return String.raw`Write \\ for a backslash: "C:\\tools".`;
}
