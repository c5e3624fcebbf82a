import { custom, list, map, json, text, type Form } from "../../../format/form.ts";
import type { Part } from "../../../format/part.ts";
import { duration } from "../../../format/quantities.ts";
import { isLoopback } from "../../../text/loopback.ts";
import { nearestName } from "../../../text/nearest-name.ts";

/** What parts of a tool file have to know of the rest of it. */
export class FileNames {
  readonly types: ReadonlySet<string>;
  readonly documents: readonly string[];
  /** How long a call may take, unless its tool says otherwise. */
  readonly timeoutMs: number;

  constructor({
    types,
    documents,
    timeoutMs,
  }: {
    types: ReadonlySet<string>;
    documents: readonly string[];
    timeoutMs: number;
  }) {
    this.types = types;
    this.documents = documents;
    this.timeoutMs = timeoutMs;
  }

  static of({ reading: { context } }: Part): FileNames {
    if (context instanceof FileNames) return context;
    throw new TypeError("a part of a tool file is read without the names of the file");
  }
}

export const MAX_TIMEOUT_MS = 600_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
export const DURATION = duration({ most: MAX_TIMEOUT_MS, words: "a time of at most ten minutes, like 20s" })
  .says("A time of at most ten minutes: `20s`, `500ms`, `2m`, or a number of milliseconds.")
  .example("20s")
  .named("duration");

export const STATUS = custom({
  read(part: Part) {
    const status = part.number();
    if (status !== undefined && !(Number.isInteger(status) && status >= 100 && status <= 599)) {
      part.error(`${status} is not an HTTP status`);
    }
    return status;
  },
  fallback: 500,
  schema: { type: "integer", minimum: 100, maximum: 599 },
})
  .says("A status of HTTP.")
  .named("status");

/** A text, a number, true or false. */
export const SINGLE = custom<string | number | boolean>({
  read(part) {
    const value = part.value();
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    part.error("must be text, a number, true or false");
    return undefined;
  },
  fallback: "",
  schema: { type: ["string", "number", "boolean"] },
});

/** The empty text has a meaning. */
export const TEXT_OR_EMPTY = text({ pattern: /^$|\S/, not: "is blank" });

/** Values by name, as a tool or the fake gets them. */
export const VALUES = map(json());

/** A URL without other parts, in the form used for comparison. */
export const ADDRESS = text()
  .schema({ pattern: "^[hH][tT][tT][pP][sS]?://" })
  .to<string>({ read: readAddress, write: (address) => address, fallback: "" });

function readAddress(given: string, part: Part): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !["https:", "http:"].includes(url.protocol)) {
    part.error(`"${given}" is not an http or https address`);
    return undefined;
  }
  if (url.username || url.password) part.error("must not hold credentials", "Name them in secrets.");
  if (url.search || url.hash) part.error("must end before ? and #", "Parameters belong to the requests.");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    part.warning("is not encrypted: secrets can be read on the way", "Use https.");
  }
  const path = given.replace(/^[a-z]+:\/\/[^/]*/i, "");
  if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\|%2f|%5c/i.test(path))
    part.error("must not hold dots, backslashes or encoded slashes as steps");
  return url.href.replace(/[?#].*$/, "");
}

/** An address that paths are added to. */
export function baseAddress(added: string): Form<string> {
  return ADDRESS.check((base, part) => {
    if (!base.endsWith("/")) part.error(`must end with a slash: ${added}`, `Write ${base}/`);
  });
}

/** Same origin, and a path that begins with its complete segments. */
export function covers(address: string, base: string): boolean {
  return base === address || base.startsWith(address.endsWith("/") ? address : `${address}/`);
}

/** Lines, or a page of a PDF. */
const LINES = /^(?:([\w-]+)#)?(?:L([1-9]\d{0,6})(?:-L([1-9]\d{0,6}))?|P[1-9]\d{0,5})$/;
const POINTER = /^(?:([\w-]+)#)(?:\/[^]*)?$/;
const HOW =
  "Write document#L12, document#L12-L20, document#P5 (a page) or document#/json/pointer; L12 if there is one document.";

const PLACE = text()
  .schema({
    pattern:
      "^(([A-Za-z0-9_-]+#)?(L[1-9][0-9]{0,6}(-L[1-9][0-9]{0,6})?|P[1-9][0-9]{0,5})(\\s*,\\s*([A-Za-z0-9_-]+#)?(L[1-9][0-9]{0,6}(-L[1-9][0-9]{0,6})?|P[1-9][0-9]{0,5}))*|[A-Za-z0-9_-]+#(/[^]*)?)$",
  })
  .says(
    "Lines of a document or a page of a PDF, counted from 1, or a part of a JSON or YAML document. The name of the document may be left out in front of lines and pages if there is only one.",
  )
  .named("lines")
  .to<string[]>({
    read: (written, part) => inPieces(written).map((piece) => withDocument(part, piece)),
    write: (places) => places.join(", "),
    fallback: [],
  });

/** Each piece with the name of its document. */
export const EVIDENCE = list(PLACE, { single: true })
  .to<string[]>({ read: (places) => places.flat(), write: (places) => places.map((place) => [place]), fallback: [] })
  .says(
    "What says so in the documents: lines (`manual#L12`, `manual#L12-L20`; several with commas), a page of a PDF (`manual#P5`), or a part of a JSON or YAML document by its JSON pointer (`openapi#/paths/~1pets/get`); one or a list. If there is one document, `L12` is enough.",
  )
  .example("manual#L12", ["manual#L12", "openapi#/paths/~1pets/get"], "L12, L40-L44")
  .named("evidence");

/** Commas separate lines; a JSON pointer may contain them. */
function inPieces(written: string): string[] {
  const pieces = written.split(",").map((piece) => piece.trim());
  return pieces.every((piece) => LINES.test(piece)) ? pieces : [written];
}

function withDocument(part: Part, place: string): string {
  const { documents } = FileNames.of(part);
  const lines = LINES.exec(place);
  const [only, ...others] = documents;
  const document = lines ? (lines[1] ?? (others.length === 0 ? only : undefined)) : POINTER.exec(place)?.[1];
  if (document === undefined) {
    const why = lines
      ? `"${place}" does not name one of ${documents.length} documents`
      : `"${place}" names no part of a document`;
    part.error(why, HOW);
    return place;
  }
  if (!documents.includes(document)) {
    const meant = nearestName(document, documents);
    part.error(`there is no document "${document}"`, meant ? `Did you mean "${meant}"?` : "Name it in documents.");
  } else if (lines && Number(lines[3] ?? lines[2]) < Number(lines[2])) {
    part.error(`"${place}" ends before it begins`);
  }
  return lines && lines[1] === undefined ? `${document}#${place}` : place;
}

/** Names that expressions use as well. */
export const WORD = /^[A-Za-z][A-Za-z0-9_]*$/;

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Set by the sender of the request, or in other parts of the file. */
const OWN_HEADERS = ["host", "content-length", "transfer-encoding", "connection", "content-type", "cookie"];

/** Headers that can be set. `authorization`: what to write instead of that one; without it, it may be set. */
export function headerNames(authorization?: string): Form<string> {
  const own = [...OWN_HEADERS, ...(authorization === undefined ? [] : ["authorization"])];
  return text({ empty: true })
    .check((header, part) => {
      if (!HEADER.test(header)) part.keyError(`"${header}" cannot be the name of a header`);
      else if (OWN_HEADERS.includes(header.toLowerCase())) part.keyError(`${header} is set by itself`, "Leave it out.");
      else if (header.toLowerCase() === "authorization" && authorization !== undefined) {
        part.keyError(`${header} carries a secret`, authorization);
      }
    })
    .schema({ pattern: HEADER.source, not: { pattern: `^(${own.map(inAnyCase).join("|")})$` } });
}

/** A pattern of JSON Schema cannot ignore the case. */
function inAnyCase(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
