import { YAMLParseError } from "yaml";
import { createScanner, visit } from "jsonc-parser/lib/esm/main.js";
import { messageOf, NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { parseExactWholes, withPlainNumbers } from "../../json/exact-json.ts";
import { sha256 } from "../../text/digest.ts";
import { visible } from "../../text/visible.ts";
import type { DocumentFormat } from "./api-facts.ts";
import { cleanDocument } from "./text/clean-document.ts";
import { curlsCollection, type RecordedRequests } from "./recorded/curls-collection.ts";
import { harCollection } from "./recorded/har-collection.ts";
import { formatOf, isForPeople, manualByName, manualByText, textFormatOf, type Looks } from "./document-format.ts";
import { scanJson, type RepeatedKey } from "./text/json-scan.ts";
import { readLibraryYaml } from "./text/library-yaml.ts";
import { readSimpleYaml } from "./text/simple-yaml.ts";
import { mistakeOf } from "../../source/json-mistakes.ts";

/** Token kinds of the scanner; the library exports them only as types. */
const CLOSE_BRACE = 2;
const CLOSE_BRACKET = 4;
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const BLANKS = 15;
const END = 17;

/** An API description that was read, whatever its format. */
export interface LoadedDocument {
  /** Short, for evidence: `openapi` in `openapi#/paths/~1pets`. */
  name: string;
  /** With LF line ends, as it is kept beside the tool file. */
  text: string;
  /**
   * Of JSON and YAML, as JSON.parse gives it, but whole numbers that a double cannot hold are texts of their digits.
   * Undefined for other formats.
   */
  value: unknown;
  /** Of `text`. */
  sha256: string;
  /** The absolute path of the file, or the address without its query. */
  source?: string;
  format: DocumentFormat;
  /** Parts of the text that were ignored, for people. */
  remarks: string[];
}

/** In UTF-16 units; the largest known descriptions have 30 million. */
export const MAX_DOCUMENT_LENGTH = 32 * 1024 * 1024;
const LIMITS = { values: 1_500_000, depth: 200 };

/** Reads a description from text. `name` is for evidence and messages; `file` may tell the format. */
export function parseDocument(text: string, name: string, file = ""): LoadedDocument {
  const lines = text.replaceAll("\r\n", "\n");
  const known = textFormat(lines, name, file);
  if (known === "curl") return ofRecorded(curlsCollection(lines, name), name);
  if (known) return withoutCredentials({ name, text: lines, value: undefined, format: known, remarks: [] });
  const { value, remarks } = parseText(lines, name);
  const format = typeof value === "string" ? manualByText(lines) : formatOf(value);
  if (typeof format === "object") throw notADescription(name, format);
  if (format === "har") return ofRecorded(harCollection(value, name), name);
  return withoutCredentials({ name, text: lines, value, format, remarks });
}

/** A document is kept beside its tool file, and served: it has no values of credentials. */
export function withoutCredentials(document: Omit<LoadedDocument, "sha256">): LoadedDocument {
  const { text, value, remarks } = cleanDocument(document, (edited) => parseText(edited, document.name).value);
  return { ...document, text, value, sha256: sha256(text), remarks: [...document.remarks, ...remarks] };
}

/**
 * The text of a document of a tool file without credentials, with its lines and parts where they were. Older copies, and
 * documents that a person put beside a tool file, may have some.
 */
export function cleanedText(text: string, name: string, file = ""): string {
  try {
    const known = textFormat(text, name, file);
    const value = known === undefined ? parseText(text, name).value : undefined;
    const format = known ?? (typeof value === "string" ? manualByText(text) : formatOf(value));
    if (typeof format !== "object" && format !== "curl" && format !== "har") {
      return withoutCredentials({ name, text, value, format, remarks: [] }).text;
    }
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
  }
  return withoutCredentials({ name, text, value: undefined, format: "text", remarks: [] }).text;
}

/**
 * Recorded requests carry credentials, and a document is kept beside its tool file: they become a collection that has
 * none of their values.
 */
function ofRecorded({ collection, remarks }: RecordedRequests, name: string): LoadedDocument {
  const text = `${JSON.stringify(collection, undefined, 2)}\n`;
  return { name, text, value: JSON.parse(text), sha256: sha256(text), format: "postman-2", remarks };
}

/** The format of a text that is neither JSON nor YAML; undefined for those. */
function textFormat(lines: string, name: string, file: string): DocumentFormat | undefined {
  const text = usable(lines, name);
  const manual = manualByName(file);
  // Any text may be in a file for texts.
  if (manual && manual !== "text") return manual;
  const found = textFormatOf(text);
  if (typeof found === "object") throw notADescription(name, found);
  if (found) return found;
  if (isJsonLike(text)) return undefined;
  if (manual) return manualByText(text);
  return isForPeople(text) && !isYaml(text) ? manualByText(text) : undefined;
}

function isYaml(text: string): boolean {
  try {
    yamlValue(text);
    return true;
  } catch (error) {
    return error instanceof RangeError;
  }
}

/** Without a byte order mark; neither empty nor too long. */
function usable(lines: string, name: string): string {
  const text = lines.charCodeAt(0) === 0xfeff ? lines.slice(1) : lines;
  if (text.length > MAX_DOCUMENT_LENGTH) throw tooLarge(name, `has more than ${MAX_DOCUMENT_LENGTH} characters`);
  if (text.trim() === "") throw unreadable(`The document ${name} is empty`, "Check that it was downloaded completely.");
  return text;
}

/** A value from outside, and what was ignored in its text, for people. */
interface ParsedText {
  value: unknown;
  remarks: string[];
}

/** The value of JSON or YAML text from outside, within limits. */
export function parseText(lines: string, name: string): ParsedText {
  const text = usable(lines, name);
  const found = textFormatOf(text);
  if (found) throw typeof found === "object" ? notADescription(name, found) : notData(name, found);
  const isJson = isJsonLike(text);
  try {
    return isJson ? jsonValue(text) : yamlValue(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(name, error.message, error);
    const { at, what } = mistakeIn(text, error);
    throw unreadable(
      `The document ${name} is not valid ${isJson ? "JSON" : "YAML"}${at}: ${visible(what.slice(0, 300))}`,
      isJson
        ? "Correct it, or export it again."
        : "Correct it, or export it again. Texts with : # [ ] { } or , may need quotes.",
      { cause: error },
    );
  }
}

/** Where a text is wrong, and what is wrong. */
function mistakeIn(text: string, error: unknown): { at: string; what: string } {
  if (error instanceof YAMLParseError) return { at: ` in ${placeOf(error.pos[0], text)}`, what: messageOf(error) };
  const mistake = error instanceof SyntaxError ? jsonMistake(plainJson(text).text) : undefined;
  if (!mistake) return { at: "", what: messageOf(error) };
  return { at: ` in ${placeOf(mistake.offset, text)}`, what: mistake.what };
}

/** `line 12, column 5` of an offset. */
function placeOf(offset: number, text: string): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

function jsonValue(text: string): ParsedText {
  try {
    return strictValue(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const plain = plainJson(text);
    if (plain.first !== undefined) {
      try {
        const { value, remarks } = strictValue(plain.text);
        const place = placeOf(plain.first, text);
        const ignored = `Comments and commas before a closing bracket are not JSON (the first in ${place}); they were ignored`;
        return { value, remarks: [ignored, ...remarks] };
      } catch (inner) {
        // YAML would read such comments as names of members.
        if (plain.hadComments || inner instanceof RangeError) throw inner;
      }
    }
    // YAML also allows braces and brackets, with its own comments and without quotes.
    try {
      return yamlValue(text);
    } catch {
      throw error;
    }
  }
}

function strictValue(text: string): ParsedText {
  const remarks = remarksOn(scanJson(text, LIMITS));
  const value = parseExactWholes(text);
  return { value: /\d{16}/.test(text) ? withPlainNumbers(value) : value, remarks };
}

function yamlValue(text: string): ParsedText {
  const { value, repeated } = readSimpleYaml(text, LIMITS) ?? readLibraryYaml(text, LIMITS);
  return { value, remarks: remarksOn(repeated) };
}

function remarksOn(repeated: readonly RepeatedKey[]): string[] {
  return repeated.map(
    ({ key, line }) =>
      `The key "${visible(key.slice(0, 100))}" is twice in one object (line ${line}); the last one counts`,
  );
}

function notADescription(name: string, { like, fix }: Looks): NexusError {
  return unreadable(`The document ${name} is not an API description: it looks like ${visible(like)}`, fix);
}

function notData(name: string, format: DocumentFormat): NexusError {
  return unreadable(
    `The document ${name} is ${format}, which has lines but no JSON pointers`,
    "Cite its lines: L12-L14.",
  );
}

function tooLarge(name: string, problem: string, cause?: unknown): NexusError {
  return unreadable(
    `The document ${name} ${visible(problem)}, the limit`,
    "Split it into several descriptions, for example one for each tag, and import those.",
    { cause },
  );
}

/** An error about a document that cannot be used. */
export function unreadable(message: string, hint: string, more: ErrorDetails = {}): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", hint, mayHaveReached: false, ...more });
}

/** JSON text with blanks in place of what JSON does not allow, so that offsets stay. */
interface PlainJson {
  text: string;
  /** Whether comments were among it. */
  hadComments: boolean;
  /** The offset of the first comment, or of the first comma before a closing bracket. */
  first: number | undefined;
}

/** Whether the first thing in a text, after comments, is an object or a list as JSON writes them. */
function isJsonLike(text: string): boolean {
  let at = 0;
  for (;;) {
    while (/\s|\uFEFF/.test(text.charAt(at))) at++;
    const [close, length] = text.startsWith("//", at) ? ["\n", 1] : text.startsWith("/*", at) ? ["*/", 2] : ["", 0];
    if (close === "") return text.charAt(at) === "{" || text.charAt(at) === "[";
    const end = text.indexOf(close, at + 2);
    if (end === -1) return false;
    at = end + length;
  }
}

/** Without comments and without commas before a closing bracket, which people and their editors write. */
function plainJson(text: string): PlainJson {
  const scanner = createScanner(text, false);
  const kept: string[] = [];
  let copied = 0;
  let first: number | undefined;
  let hadComments = false;
  let comma: number | undefined;
  const blank = (from: number, to: number) => {
    first = Math.min(first ?? from, from);
    kept.push(text.slice(copied, from), text.slice(from, to).replaceAll(/[^\n]/g, " "));
    copied = to;
  };
  const comments: [number, number][] = [];
  const blankComments = () => {
    for (const [from, to] of comments.splice(0)) blank(from, to);
  };
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    const at = scanner.getTokenOffset();
    if (token === LINE_BREAK || token === BLANKS) continue;
    if (token === LINE_COMMENT || token === BLOCK_COMMENT) {
      // In YAML with braces, an address may have no quotes.
      if (/[\w:.]/.test(text.charAt(at - 1))) continue;
      hadComments = true;
      comments.push([at, at + scanner.getTokenLength()]);
      continue;
    }
    if (comma !== undefined && (token === CLOSE_BRACE || token === CLOSE_BRACKET)) blank(comma, comma + 1);
    blankComments();
    comma = token === COMMA ? at : undefined;
  }
  blankComments();
  return { text: kept.join("") + text.slice(copied), hadComments, first };
}

/** The first mistake in JSON text, and its offset; undefined if the library finds none. */
function jsonMistake(text: string): { offset: number; what: string } | undefined {
  const onError = (code: number, offset: number) => {
    // Something missing at the end is reported after the last visible character, not after empty lines.
    const place = text.slice(offset).trim() === "" ? text.trimEnd().length : offset;
    throw new FirstMistake(place, mistakeOf(code).what);
  };
  try {
    visit(text, { onError }, { disallowComments: true });
    return undefined;
  } catch (error) {
    if (error instanceof FirstMistake) return { offset: error.offset, what: error.message };
    throw error;
  }
}

/** Ends the reading: behind a mistake, the text may be nested as deep as it likes. */
class FirstMistake extends Error {
  readonly offset: number;

  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}
