import type { CallToolResult, Content } from "../../protocol/mcp.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import type { RequestToolSpec, ToolFile } from "../file/model/tool-file.ts";
import { textOf, type AnswerBytes } from "./answer-decoder.ts";
import { bytesOf, excerptOf } from "./excerpt.ts";
import { payloadBlock, resultUri, successResult, toldDeviation } from "./call-result.ts";
import { type CompletedValues, showing } from "./completed-values.ts";
import { differencesOf } from "./noted-deviations.ts";
import type { Success } from "./response-reader.ts";
import { type KeptResult, newResultId } from "./result-store.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import type { UpstreamResponse } from "./upstream.ts";

type Value = Record<string, unknown>;

/** What is needed to tell answers of an API; it can be had in another thread. */
export interface TellingParts {
  file: ToolFile;
  values: CompletedValues;
  hidden: HiddenValues;
  /** The most bytes that can be kept of one result. */
  mostKept: number;
  /** Whether somebody is told how answers differ from the file. */
  wantsDifferences: boolean;
}

/** The tool whose answer it is. */
export interface ToldTool {
  kind: "request";
  name: string;
  spec: RequestToolSpec;
}

/** An answer as the caller gets it, and what is done with it besides. */
export interface Told {
  kind: "told";
  result: CallToolResult;
  /** What did not fit, by the id with which the result links to it. */
  kept: readonly (readonly [id: string, content: KeptResult])[];
  /** How the answer differs from what is documented, for the caller, */
  deviations: readonly Record<string, string>[];
  /** and for the one who keeps the file. */
  differences: readonly Record<string, string>[];
}

/** The result of an answer that is not a failure. */
export function toldAnswer(parts: TellingParts, tool: ToldTool, input: Value, success: Success): Told {
  const { hidden, file, mostKept } = parts;
  const { name, spec } = tool;
  const { text, more, bytes } = success;
  const maxBytes = spec.limits.resultBytes;
  const { structured, json } = wholeValue(parts, spec, success) ?? {
    structured: shownValue(parts, spec, input, success),
  };
  const deviations = success.deviations.map((deviation) => toldDeviation(deviation, hidden));
  // Two adjacent values may form a secret.
  let line = hidden.inOwnWords(text);
  if (deviations.length > 0) {
    const places = deviations.length === 1 ? "one place" : `${deviations.length} places`;
    line += `\nThe answer was not as documented in ${places}: see deviations.`;
  }
  const { kept, keep } = keeping(mostKept);
  const keepBlob = ({ bytes: content, contentType }: AnswerBytes) => {
    const id = keep(content, contentType);
    return id === undefined ? undefined : resultUri(file.api, id);
  };
  const result = successResult({
    text: line,
    structured,
    json,
    deviations,
    maxBytes,
    blob: bytes && blobContent(maskedBytes(bytes, hidden), { tool: name, maxBytes, keep: keepBlob }),
    more: more && { next: more.next && shownNext(more.next, hidden), why: hidden.inOwnWords(more.why) },
    keep: { keepWhole: (whole) => keep(whole, "application/json"), api: file.api, tool: name },
  });
  return {
    kind: "told",
    result,
    kept,
    deviations,
    differences: parts.wantsDifferences ? differencesOf({ file, spec, hidden }, success) : [],
  };
}

/** Keeps what does not fit into a result; undefined if it is too large for that, too. */
export function keeping(mostKept: number) {
  const kept: [string, KeptResult][] = [];
  const keep = (content: string | Uint8Array, mimeType: string) => {
    if (content.length > mostKept) return undefined;
    const id = newResultId();
    kept.push([id, { content, mimeType }]);
    return id;
  };
  return { kept, keep };
}

/** The raw answer as content of a result. */
export function payloadOf({ headers, body, status }: UpstreamResponse, hidden: HiddenValues): Content {
  const type = headers["content-type"];
  const contentType = typeof type === "string" ? hidden.in(type) : undefined;
  return payloadBlock(hidden.in(textOf(body)), { status, contentType });
}

/** The value as it is and its JSON, if all of it is shown and no secret is in it. */
function wholeValue(
  { values, hidden }: TellingParts,
  spec: RequestToolSpec,
  { value, deviations, own, more, json: known }: Success,
): { structured: Value; json: string } | undefined {
  const { type, headers } = spec.response;
  // Values of headers are behind the others, and may belong before them.
  if (type === undefined || headers || own || more || deviations.length > 0) return undefined;
  if (!values.isShownWhole(type)) return undefined;
  const json = known ?? JSON.stringify(value);
  return hidden.isAbsentFrom(json) ? { structured: value, json } : undefined;
}

/** The visible fields, with secrets masked. */
function shownValue(
  { values, hidden }: TellingParts,
  { response }: RequestToolSpec,
  input: Value,
  { value, own }: Success,
): Value {
  const show = {
    text: showing(hidden, input),
    unknown: response.unknown === "keep" ? (members: Value) => hidden.inAll(members) as Value : undefined,
  };
  const plain = response.type === undefined ? hidden.inAll(value) : values.shown(response.type, value, show);
  return { ...(own && (hidden.inAll(own) as Value)), ...(plain as Value) };
}

/** Arguments that the API named; a short secret is not masked, because a page has a number. */
function shownNext(next: Value, hidden: HiddenValues): Value {
  const show = (value: unknown) => (typeof value === "string" ? hidden.inOwnWords(value) : value);
  return Object.fromEntries(Object.entries(next).map(([name, value]) => [name, show(value)]));
}

/** Images and sounds up to this size are in the result itself, because models cannot follow a link to see them. */
const MAX_INLINE = 1024 * 1024;

interface BlobOptions {
  tool: string;
  /** The limit of the result for files that are neither image nor sound. */
  maxBytes: number;
  /** Keeps the bytes; the address at which they can be read, or undefined if they are too large. */
  keep: (blob: AnswerBytes) => string | undefined;
}

/** Bytes as content of a result: an image, a sound, a resource, or a link to one that is kept for a while. */
export function blobContent(blob: AnswerBytes, { tool, maxBytes, keep }: BlobOptions): Content[] {
  const { bytes, contentType } = blob;
  const mimeType = contentType.split(";")[0]?.trim().toLowerCase() ?? contentType;
  const annotations = { audience: ["user", "assistant"] };
  const [, kind] = /^(image|audio)\//.exec(mimeType) ?? [];
  if (kind !== undefined && bytes.length <= MAX_INLINE) {
    return [{ type: kind, data: base64(bytes), mimeType, annotations }];
  }
  const uri = keep(blob);
  if (uri === undefined) {
    const text = `The file (${mimeType}, ${bytes.length} bytes) is too large to be kept here and is not in this result.`;
    return [{ type: "text", text, annotations }];
  }
  const small = bytes.length <= maxBytes;
  if (small) return [{ type: "resource", resource: { uri, mimeType, blob: base64(bytes) }, annotations }];
  return [{ type: "resource_link", uri, name: `${tool} file`, mimeType, size: bytes.length, annotations }];
}

/** The bytes with secrets masked: all in a text, and those that cannot occur by chance in other bytes. */
function maskedBytes({ bytes, contentType }: AnswerBytes, hidden: HiddenValues): AnswerBytes {
  const masked = { contentType: hidden.in(contentType) };
  const text = asUtf8(bytes);
  const plain = text ?? Buffer.from(bytes).toString("latin1");
  const shown = text === undefined ? hidden.inOwnWords(plain) : hidden.in(plain);
  return { ...masked, bytes: shown === plain ? bytes : Buffer.from(shown, text === undefined ? "latin1" : "utf8") };
}

function asUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * Who goes on with the value of an answer: rules of the same file, which see all of it, or the later steps of a tool, which
 * see the visible fields, as callers of the tool that they call get them.
 */
export type ValueUse = "whole" | "step";

/** An answer as a value. */
export interface ReadValue {
  kind: "value";
  value: Value;
  /** The size of the answer. */
  bytes: number;
  deviations: readonly Deviation[];
  /** How the answer differs from what is documented, for the one who keeps the file. */
  differences: readonly Record<string, string>[];
}

export function readValue(
  parts: TellingParts,
  tool: ToldTool,
  success: Success,
  { use, bytes }: { use: ValueUse; bytes: number },
): ReadValue {
  const { file, hidden } = parts;
  const { deviations } = success;
  return {
    kind: "value",
    value: use === "step" ? stepValue(parts, tool, success) : success.value,
    bytes,
    deviations,
    differences: parts.wantsDifferences ? differencesOf({ file, spec: tool.spec, hidden }, success) : [],
  };
}

/** Maximum size of a value that is recorded. */
const MAX_RECORDED_BYTES = 1024 * 1024;

/**
 * The same value is recorded, so that a repeated call goes on with it. Only secrets that cannot occur by chance are masked:
 * an id must stay as it is.
 */
function stepValue(
  { values, hidden }: TellingParts,
  { spec: { effect, response } }: ToldTool,
  { value, more }: Pick<Success, "value" | "more">,
): Value {
  const masked = (text: string) => hidden.inOwnWords(text);
  const { type, unknown } = response;
  const inAll = (members: Value) => hidden.inAll(members, masked) as Value;
  const keep = unknown === "keep" ? inAll : undefined;
  const shown = type === undefined ? inAll(value) : values.shown(type, value, { text: masked, unknown: keep });
  const whole = more ? { ...shown, more } : shown;
  if (effect === "read" || bytesOf(whole) <= MAX_RECORDED_BYTES) return whole;
  return excerptOf(whole, MAX_RECORDED_BYTES).value;
}
