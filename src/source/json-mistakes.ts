interface JsonMistake {
  what: string;
  /** Additional advice. */
  hint?: string;
}

const QUOTES = `Put text and names in double quotes: "command": "node". Only numbers, true, false and null have none.`;
const BACKSLASH = String.raw`Write \\ for a backslash: "C:\\tools".`;

/** The errors of the parser in words, in the order of their numbers, which begin with 1. */
const MISTAKES: readonly JsonMistake[] = [
  // InvalidSymbol
  { what: "this is not a value; text needs double quotes", hint: QUOTES },
  // InvalidNumberFormat
  { what: "this is not a number" },
  // PropertyNameExpected
  { what: "a name in double quotes is expected here", hint: QUOTES },
  // ValueExpected
  {
    what: "a value is expected here",
    hint: `Add a value, or "" for an empty one, or delete the name before it.`,
  },
  // ColonExpected
  { what: "a colon is missing here", hint: `Write "name": value, with a colon between the two.` },
  // CommaExpected
  { what: "a comma is missing before this", hint: "Add a comma at the end of the previous item." },
  // CloseBraceExpected
  {
    what: "a } is missing here",
    hint: "A { before this is not closed. Add a } at its end.",
  },
  // CloseBracketExpected
  {
    what: "a ] is missing here",
    hint: "A [ before this is not closed. Add a ] at the end of the list.",
  },
  // EndOfFileExpected
  {
    what: "unexpected content after the end",
    hint: "There is one } too many before this. Delete it, or move this content inside.",
  },
  // InvalidCommentToken
  { what: "a comment is not allowed here" },
  // UnexpectedEndOfComment
  { what: "this comment is not closed", hint: "Add */ at its end." },
  // UnexpectedEndOfString
  {
    what: "the closing quote of this text is missing",
    hint: String.raw`Add a " at its end, on the same line. Write a quote inside a text as \".`,
  },
  // UnexpectedEndOfNumber
  { what: "this number is incomplete" },
  // InvalidUnicode
  { what: "\\u must be followed by four hexadecimal digits", hint: BACKSLASH },
  // InvalidEscapeCharacter
  { what: "this text has an invalid escape sequence", hint: BACKSLASH },
  // InvalidCharacter
  {
    what: "this text contains a control character",
    hint: String.raw`Write \t for a tab and \n for a new line.`,
  },
];

/** An error of the parser in words. */
export function mistakeOf(code: number): JsonMistake {
  return MISTAKES[code - 1] ?? { what: "this is not JSON" };
}
