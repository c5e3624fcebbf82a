import { isNestedDeeper } from "../../json/nesting.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import { isTrue } from "../expression/arithmetic.ts";
import { evaluate } from "../expression/evaluate.ts";
import { mentioned } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import { namesInTemplate, parseTemplate, renderTemplate } from "../expression/template.ts";
import type { ErrorSpec, ToolFile, RequestToolSpec, FieldSpec } from "../file/model/tool-file.ts";
import { textOf, type AnswerBytes, type DecodedAnswer } from "./answer-decoder.ts";
import type { CompletedValues, Show } from "./completed-values.ts";
import { Failure, type FailureOptions } from "./failure.ts";
import type { UpstreamResponse } from "./upstream.ts";
import { isTemporaryStatus } from "../../errors/error-traits.ts";
import { secretNames } from "../file/model/secret-names.ts";
import { retryAfterMs } from "../../async/backoff.ts";
import { isProblem, problemText } from "./status-failure.ts";
import { isRecord } from "../../json/is-record.ts";
import { messageIn } from "../../transport/refused-body.ts";
import { codecFor } from "../codec/codec-for.ts";
import type { Decoded } from "../codec/record/codec.ts";
import { withinLimits } from "../codec/json/json-codec.ts";
import { withPlainNumbers, parseExactJson } from "../../json/exact-json.ts";
import { scalarOf, Mismatch } from "../codec/record/scalar.ts";
import { StepBudget } from "../pattern/step-budget.ts";

const JSON_TYPE = /^[\w.-]+\/(?:[\w.+-]+\+)?json\b/i;
const TEXT_TYPE = /^(?:text\/|[\w.-]+\/(?:[\w.+-]+\+)?(?:xml|yaml|javascript|x-ndjson|csv)\b)/i;
const BYTES_TYPE = "application/octet-stream";

/** A larger body is not a message. */
const MAX_BYTES = 256 * 1024;
/** A JSON answer up to this size is shown completely; of a larger one only its message. */
const MAX_WHOLE = 300;
/** A longer wait is not one that a caller can wait for. */
const LONGEST_WAIT_S = 999_999;
const NO_SECRETS = { query: {}, headers: {}, public: [] };

type Value = Record<string, unknown>;

/** An answer that is not a failure. */
export interface Success {
  kind: "success";
  /** Includes hidden fields, for rules and other calls of the same file. */
  value: Value;
  deviations: Deviation[];
  /** `value` as JSON, if it is known. */
  json?: string | undefined;
  /** The first line of the result, with secrets masked. */
  text: string;
  /** Members of the result that are not fields of its type: the text, or what is known about the bytes. */
  own?: Value;
  bytes?: AnswerBytes;
  /** There are pages that were not read. */
  more?: MorePages;
}

/** Why a list is not complete. `next`: the arguments that go on; undefined if there are none. */
export interface MorePages {
  next?: Value | undefined;
  why: string;
}

/** Interprets an answer. */
export type ResponseReader = (answer: UpstreamResponse, input: Value, show: Show) => Success | Failure;

export function responseReader(file: ToolFile, tool: RequestToolSpec, values: CompletedValues): ResponseReader {
  const { response } = tool;
  const decode = answerDecoder(file, tool);
  const text = parseTemplate(response.text);
  const errors = tool.errors.map(errorRule);
  const names = namesUsed(tool);

  return (answer, input, show) => {
    const isGood = answer.status >= 200 && answer.status < 300;
    const decoded = decoding(() => decode(answer));
    const isReadable = !(decoded instanceof NexusError);
    const plain = isReadable ? decoded.value : {};
    const around = { input, status: answer.status };
    const own = isReadable ? decoded.own : {};
    const value = isReadable && response.type !== undefined ? values.complete(response.type, plain, around) : own;
    const scope: Scope = { input, status: answer.status };
    for (const name of names) {
      if (Object.hasOwn(value, name)) scope[name] = value[name];
      else if (Object.hasOwn(own, name)) scope[name] = own[name];
    }
    for (const rule of errors) {
      const failure = rule(scope, isReadable, show);
      if (failure) return withWait(failure, answer);
    }
    if (!isGood) return withWait(statusFailure(file, tool, answer), answer);
    if (!isReadable) return withWait(unreadable(file, show(decoded.message), answer), answer);
    const success: Success = {
      kind: "success",
      value,
      deviations: decoded.deviations,
      json: value === plain ? decoded.json : undefined,
      text: renderTemplate(text, scope, show),
    };
    if (decoded.bytes) success.bytes = decoded.bytes;
    if (response.type !== undefined && Object.keys(own).length > 0) success.own = own;
    return success;
  };
}

function decoding(decode: () => DecodedAnswer): DecodedAnswer | NexusError {
  try {
    return decode();
  } catch (error) {
    if (error instanceof NexusError) return error;
    throw error;
  }
}

type Scope = Value & { status: number };

/**
 * The fields of answers that the rules and texts of a tool use: copying all of them for each answer would cost as much as
 * reading it. `input` and `status` win over fields of the same name.
 */
function namesUsed({ response, errors }: RequestToolSpec): string[] {
  const texts = [response.text, ...errors.flatMap(({ say, try: hint }) => (hint === undefined ? [say] : [say, hint]))];
  const conditions = errors.flatMap(({ that }) => (that === undefined ? [] : mentioned(parseExpression(that))));
  const names = new Set([...conditions, ...texts.flatMap((text) => namesInTemplate(parseTemplate(text)))]);
  return [...names].filter((name) => name !== "input" && name !== "status");
}

/** The result of an `errors` entry for an answer. Without a readable body only the status is checked. */
function errorRule(spec: ErrorSpec): (scope: Scope, isReadable: boolean, show: Show) => Failure | undefined {
  const that = spec.that === undefined ? undefined : parseExpression(spec.that);
  const say = parseTemplate(spec.say);
  const hint = spec.try === undefined ? undefined : parseTemplate(spec.try);
  return (scope, isReadable, show) => {
    const { status } = scope;
    if (spec.status.length > 0 && !spec.status.includes(status)) return undefined;
    if (that && !(isReadable && isTrue(evaluate(that, scope)))) return undefined;
    // An entry without conditions would also match every successful answer.
    if (!that && spec.status.length === 0 && status < 300) return undefined;
    return new Failure(renderTemplate(say, scope, show), {
      hint: hint && renderTemplate(hint, scope, show),
      outcome: spec.outcome ?? (status < 500 && (that !== undefined || isRefusal(status)) ? "refused" : "unknown"),
    });
  };
}

function unreadable(file: ToolFile, why: string, answer: UpstreamResponse): Failure {
  return new Failure(`The response of ${file.title} cannot be read: ${why}.`, {
    again: "Try again later, or tell the operator of this server.",
    said: wordsIn(answer),
    outcome: "unknown",
  });
}

/** The failure for a status that the tool file does not mention, with advice and the API's own message. */
function statusFailure(file: ToolFile, tool: RequestToolSpec, answer: UpstreamResponse): Failure {
  const { status } = answer;
  return new Failure(`${file.title} answered with HTTP ${status}.`, {
    ...adviceFor(file, tool, answer),
    said: wordsIn(answer),
    outcome: isRefusal(status) ? "refused" : "unknown",
  });
}

/** Whether the server certainly did not do it: a 408 only says that it waited too long. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

function adviceFor(
  file: ToolFile,
  { request }: RequestToolSpec,
  { status, headers }: UpstreamResponse,
): Pick<FailureOptions, "hint" | "again"> {
  switch (status) {
    case 401:
      return { hint: credentialsAdvice(file, request.secrets) };
    case 403:
      return {
        hint: "It accepted the credentials, but does not allow this. The operator of this server has to get the permission, or set other credentials.",
      };
    case 404:
    case 410:
      return { hint: "It has nothing of that name: check the ids and names in the arguments." };
    case 409:
      return { hint: "It conflicts with what is already there: look at the present state before you call again." };
    case 400:
    case 422:
      return { hint: "It cannot use these values: check the arguments." };
    case 429:
      return { again: `Its request limit is reached: try again ${waitFrom(headers["retry-after"])}.` };
    default:
      if (isTemporaryStatus(status)) {
        return {
          again: `It failed or is overloaded: try again ${waitFrom(headers["retry-after"])}.`,
        };
      }
      return { hint: "It rejected this request: check the arguments." };
  }
}

function credentialsAdvice({ secrets }: ToolFile, name: string | undefined): string {
  const names = name === undefined ? [] : secretNames(secrets[name] ?? NO_SECRETS);
  if (names.length === 0)
    return "It requires credentials, but the tool file names none for this tool (request.secrets).";
  return `It did not accept the credentials. The operator of this server has to set them again (nexus secrets set): ${names.join(", ")}.`;
}

/** "in 30 seconds", from a header with seconds or a date; "later" if it says nothing useful. */
function waitFrom(header: string | string[] | undefined): string {
  const waitMs = retryAfterMs(header);
  const seconds = waitMs === undefined ? Infinity : Math.ceil(waitMs / 1_000);
  if (seconds > LONGEST_WAIT_S) return "later";
  return seconds === 1 ? "in 1 second" : `in ${seconds} seconds`;
}

/** With the time that the API asks to wait, if nothing else says what to do: an entry of the tool file may not. */
function withWait(failure: Failure, { status, headers }: UpstreamResponse): Failure {
  const isBusy = status === 429 || status === 503;
  if (!isBusy || failure.hint !== undefined || failure.again !== undefined) return failure;
  const wait = waitFrom(headers["retry-after"]);
  if (wait === "later") return failure;
  const { text, said, outcome } = failure;
  return new Failure(text, { again: `Try again ${wait}.`, said, outcome });
}

/** The message of an answer, or all of it; undefined if it is empty or not text. It may contain secrets and be long. */
function wordsIn({ headers, body }: UpstreamResponse): string | undefined {
  const type = headers["content-type"];
  if (typeof type === "string" && !/text|json|xml|html/i.test(type)) return undefined;
  if (body.length > MAX_BYTES) return undefined;
  const text = new TextDecoder().decode(body);
  const words = /^\s*</.test(text) ? wordsInMarkup(text) : wordsInJson(text, typeof type === "string" ? type : "");
  return words.trim() === "" ? undefined : words;
}

function wordsInJson(text: string, contentType: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const problem = isProblem(value, contentType) ? problemText(value) : undefined;
  if (problem !== undefined) return problem;
  // Writing it recurses, and may need a deeper stack than there is.
  const whole = isNestedDeeper(value) ? text : JSON.stringify(value);
  if (whole.length <= MAX_WHOLE && isRecord(value)) return whole;
  return messageIn(value) ?? whole;
}

/** The title of a page, which has the message of a proxy or framework; otherwise the text between the tags. */
function wordsInMarkup(text: string): string {
  const start = text.search(/<title[\s>]/i);
  const from = start === -1 ? -1 : text.indexOf(">", start);
  const title = from === -1 ? "" : text.slice(from + 1).split("<", 1)[0];
  if (title !== undefined && title.trim() !== "") return title;
  const plain = text.replaceAll(/<[^<>]*>/g, " ");
  return plain.trim() === "" ? text : plain;
}

type Decode = (answer: UpstreamResponse) => DecodedAnswer;

/** Prepares how the answers of a tool are decoded: their bodies and their headers. Throws if one cannot be read. */
function answerDecoder(file: ToolFile, tool: RequestToolSpec): Decode {
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
