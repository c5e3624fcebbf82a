import { isTemporaryStatus } from "../../errors/error-traits.ts";
import { retryAfterMs } from "../../async/backoff.ts";
import { isRecord } from "../../json/is-record.ts";
import { isNestedDeeper } from "../../json/nesting.ts";
import { messageIn } from "../../transport/refused-body.ts";
import { secretNames } from "../file/model/secret-names.ts";
import type { ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import { Failure, type FailureOptions } from "./failure.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** A larger body is not a message. */
const MAX_BYTES = 256 * 1024;
/** A JSON answer up to this size is shown completely; of a larger one only its message. */
const MAX_WHOLE = 300;
/** A longer wait is not one that a caller can wait for. */
const LONGEST_WAIT_S = 999_999;

/** The failure for a status that the tool file does not mention, with advice and the API's own message. */
export function statusFailure(file: ToolFile, tool: RequestToolSpec, answer: UpstreamResponse): Failure {
  const { status } = answer;
  return new Failure(`${file.title} answered with HTTP ${status}.`, {
    ...adviceFor(file, tool, answer),
    said: wordsIn(answer),
    outcome: isRefusal(status) ? "refused" : "unknown",
  });
}

/** Whether the server certainly did not do it: a 408 only says that it waited too long. */
export function isRefusal(status: number): boolean {
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

const NO_SECRETS = { query: {}, headers: {}, public: [] };

/** "in 30 seconds", from a header with seconds or a date; "later" if it says nothing useful. */
function waitFrom(header: string | string[] | undefined): string {
  const waitMs = retryAfterMs(header);
  const seconds = waitMs === undefined ? Infinity : Math.ceil(waitMs / 1_000);
  if (seconds > LONGEST_WAIT_S) return "later";
  return seconds === 1 ? "in 1 second" : `in ${seconds} seconds`;
}

/** With the time that the API asks to wait, if nothing else says what to do: an entry of the tool file may not. */
export function withWait(failure: Failure, { status, headers }: UpstreamResponse): Failure {
  const isBusy = status === 429 || status === 503;
  if (!isBusy || failure.hint !== undefined || failure.again !== undefined) return failure;
  const wait = waitFrom(headers["retry-after"]);
  if (wait === "later") return failure;
  const { text, said, outcome } = failure;
  return new Failure(text, { again: `Try again ${wait}.`, said, outcome });
}

/** The message of an answer, or all of it; undefined if it is empty or not text. It may contain secrets and be long. */
export function wordsIn({ headers, body }: UpstreamResponse): string | undefined {
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

/** The most single problems that are shown. */
const MAX_PROBLEMS = 10;
/** Members with one entry for each problem; the first is that of RFC 7807, the others are in use. */
const LISTS = ["invalid-params", "invalidParams", "errors", "violations"];
const PLACES = ["name", "pointer", "field", "propertyPath", "path", "parameter", "property", "source"];
const REASONS = ["reason", "detail", "message", "title", "description"];

/** Whether a JSON answer is a problem as RFC 9457 defines it, also without its media type. */
export function isProblem(value: unknown, contentType: string): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  if (/\bproblem\+json\b/i.test(contentType)) return true;
  const isText = (name: string) => typeof value[name] === "string";
  return isText("title") && (isText("detail") || isText("type")) && typeof value["status"] === "number";
}

/** A problem in one line: what it is, its details, and what is wrong with which value. */
export function problemText(problem: Record<string, unknown>): string | undefined {
  const [title, detail] = [textOf(problem["title"]), textOf(problem["detail"])];
  const heads = [title, detail === title ? undefined : detail].filter((text) => text !== undefined);
  const single = LISTS.flatMap((name) => problemsIn(problem[name]));
  const shown = single.slice(0, MAX_PROBLEMS);
  if (single.length > shown.length) shown.push(`and ${single.length - shown.length} more`);
  const list = shown.join("; ");
  const head = heads.map((text) => text.replace(/[.:]$/, "")).join(": ");
  if (head === "" && list === "") return undefined;
  return list === "" ? (heads.length === 1 ? heads[0] : head) : head === "" ? list : `${head} (${list})`;
}

/** A list of texts or objects, or an object with the texts of each field. */
function problemsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => problemIn(item));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, texts]) =>
    [texts].flat().flatMap((item: unknown) => problemIn(item).map((text) => `${name}: ${text}`)),
  );
}

function problemIn(item: unknown): string[] {
  const text = textOf(item);
  if (text !== undefined) return [text];
  if (!isRecord(item)) return [];
  const reason = REASONS.map((name) => textOf(item[name])).find((found) => found !== undefined);
  const place = PLACES.map((name) => placeIn(item[name])).find((found) => found !== undefined);
  if (reason === undefined) return [];
  return [place === undefined ? reason : `${place}: ${reason}`];
}

function placeIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map((step) => textOf(step) ?? "").join(".") || undefined;
  return isRecord(value) ? textOf(value["pointer"] ?? value["parameter"]) : textOf(value);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
