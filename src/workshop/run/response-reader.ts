import { NexusError } from "../../errors/nexus-error.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import { isTrue } from "../expression/arithmetic.ts";
import { evaluate } from "../expression/evaluate.ts";
import { mentioned } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import { namesInTemplate, parseTemplate, renderTemplate } from "../expression/template.ts";
import type { ErrorSpec, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import { answerDecoder, type AnswerBytes, type DecodedAnswer } from "./answer-decoder.ts";
import type { CompletedValues } from "./completed-values.ts";
import { Failure } from "./failure.ts";
import { isRefusal, statusFailure, withWait, wordsIn } from "./status-failure.ts";
import type { Show } from "./completed-values.ts";
import type { UpstreamResponse } from "./upstream.ts";

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
