import { NexusError } from "../../errors/nexus-error.ts";
import { parseExactJson, withPlainNumbers } from "../../json/exact-json.ts";
import { isRecord } from "../../json/is-record.ts";
import { withinLimits } from "../codec/json/json-codec.ts";
import { codecFor } from "../codec/codec-for.ts";
import type { Decoded } from "../codec/record/codec.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import { Mismatch, scalarOf } from "../codec/record/scalar.ts";
import type { FieldSpec, RequestToolSpec, ToolFile } from "../file/model/tool-file.ts";
import { StepBudget } from "../pattern/step-budget.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** An answer that is passed on as it came. */
export interface AnswerBytes {
  bytes: Uint8Array;
  contentType: string;
}

/** What is in an answer. */
export interface DecodedAnswer extends Decoded {
  /** Members that are not fields of the type: the text, or what is known about the bytes. */
  own: Record<string, unknown>;
  bytes?: AnswerBytes;
}

type Decode = (answer: UpstreamResponse) => DecodedAnswer;

/** Prepares how the answers of a tool are decoded: their bodies and their headers. Throws if one cannot be read. */
export function answerDecoder(file: ToolFile, tool: RequestToolSpec): Decode {
  const { response } = tool;
  const decode = bodyDecoder(file, tool);
  const fields = response.type === undefined ? {} : (file.types[response.type]?.fields ?? {});
  const headers = Object.entries(response.headers ?? {}).map(([name, field]) =>
    headerReader(name, field, fields[field]),
  );
  if (headers.length === 0) return decode;
  return (answer) => {
    const decoded = decode(answer);
    const value = { ...decoded.value };
    const deviations = [...decoded.deviations];
    // Other answers have other headers.
    if (answer.status < 300) for (const read of headers) read(answer.headers, value, deviations);
    return { ...decoded, value, deviations };
  };
}

function bodyDecoder(file: ToolFile, tool: RequestToolSpec): Decode {
  const { as, type, unknown = "ignore" } = tool.response;
  switch (as) {
    case "none":
      return () => ofOwn({});
    case "text":
      return ({ body }) => ofOwn({ text: textOf(body) });
    case "binary":
      return ofBytes;
    case "auto": {
      const codec = type === undefined ? undefined : codecFor(file, type, "json", { unknown, side: "output" });
      const empty = codec?.decode("{}").value ?? {};
      return (answer) => {
        if (isEmpty(answer, tool)) return { value: empty, deviations: [], own: {} };
        const contentType = contentTypeOf(answer);
        if (JSON_TYPE.test(contentType)) return codec ? ofFields(codec.decode(answer.body)) : anyJson(answer.body);
        const decoded = TEXT_TYPE.test(contentType) ? ofOwn({ text: textOf(answer.body) }) : ofBytes(answer);
        return { ...decoded, value: empty };
      };
    }
    case "xml":
    case "json": {
      if (type === undefined) return ({ body }) => ofOwn({ text: textOf(body) });
      const codec = codecFor(file, type, as, { unknown, side: "output" });
      const empty = as === "json" ? codec.decode("{}").value : undefined;
      return (answer) => {
        if (empty && isEmpty(answer, tool)) return { value: empty, deviations: [], own: {} };
        return ofFields(codec.decode(answer.body));
      };
    }
  }
}

const JSON_TYPE = /^[\w.-]+\/(?:[\w.+-]+\+)?json\b/i;
const TEXT_TYPE = /^(?:text\/|[\w.-]+\/(?:[\w.+-]+\+)?(?:xml|yaml|javascript|x-ndjson|csv)\b)/i;
const BYTES_TYPE = "application/octet-stream";

/** Statuses and methods without a body, whatever the file says about it. */
function isEmpty({ status, body }: UpstreamResponse, { request }: RequestToolSpec): boolean {
  return body.length === 0 && (status === 204 || status === 205 || request.method === "HEAD");
}

/** Written out: a spread copies member by member, and takes as long as reading a small answer. */
function ofFields({ value, deviations, json }: Decoded): DecodedAnswer {
  return { value, deviations, json, own: {} };
}

function ofOwn(own: Record<string, unknown>): DecodedAnswer {
  return { value: {}, deviations: [], own };
}

function ofBytes(answer: UpstreamResponse): DecodedAnswer {
  // The answer of a failure is not the file that was asked for.
  if (answer.status >= 300) return ofOwn({});
  const contentType = contentTypeOf(answer);
  const bytes = { bytes: answer.body, contentType };
  return { ...ofOwn({ contentType, size: answer.body.length }), bytes };
}

function anyJson(body: Uint8Array): DecodedAnswer {
  const text = withinLimits(textOf(body));
  try {
    const json = withPlainNumbers(parseExactJson(text));
    return ofOwn(isRecord(json) ? json : { result: json });
  } catch (error) {
    throw new NexusError("PROTOCOL_VIOLATION", "The JSON cannot be read: it is not JSON", { cause: error });
  }
}

function contentTypeOf({ headers }: UpstreamResponse): string {
  const [type = ""] = [headers["content-type"] ?? []].flat();
  return /^[\x20-\x7e]{3,200}$/.test(type) ? type : BYTES_TYPE;
}

type ReadHeader = (
  headers: UpstreamResponse["headers"],
  value: Record<string, unknown>,
  deviations: Deviation[],
) => void;

function headerReader(name: string, field: string, spec: FieldSpec | undefined): ReadHeader {
  const shape = spec?.shape;
  const inner = shape?.kind === "list" ? shape.of : shape;
  if (!spec || inner?.kind !== "scalar") return () => {};
  const scalar = scalarOf(inner);
  const readText = (text: string, deviations: Deviation[]) => {
    const value = scalar.read(text);
    const problem = value instanceof Mismatch ? value.problem : scalar.limit?.(value, new StepBudget());
    if (problem !== undefined) deviations.push({ path: field, problem, received: text });
    return value instanceof Mismatch ? undefined : value;
  };
  return (headers, value, deviations) => {
    const given = [headers[name.toLowerCase()] ?? []].flat();
    if (shape?.kind === "list") {
      const texts = given.flatMap((text) => text.split(",")).map((text) => text.trim());
      value[field] = texts.map((text) => readText(text, deviations)).filter((item) => item !== undefined);
      return;
    }
    const [text] = given;
    const read = text === undefined ? undefined : readText(text, deviations);
    if (read !== undefined) value[field] = read;
    else if (text === undefined && !spec.optional) deviations.push({ path: field, problem: `missing: header ${name}` });
  };
}

/** UTF-8; if it is not, the likely encoding. */
export function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return new TextDecoder("latin1").decode(body);
  }
}
