import { NexusError } from "../../errors/nexus-error.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import { isTrue } from "../expression/arithmetic.ts";
import { evaluate } from "../expression/evaluate.ts";
import { parseExpression } from "../expression/parse.ts";
import { parseTemplate, renderTemplate } from "../expression/template.ts";
import type { ErrorSpec, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import { answerDecoder, type AnswerBytes, type DecodedAnswer } from "./answer-decoder.ts";
import type { CompletedValues } from "./completed-values.ts";
import { Failure } from "./failure.ts";
import type { Show } from "./secrets/redaction.ts";
import { isRefusal, statusFailure, wordsIn } from "./status-failure.ts";
import type { UpstreamResponse } from "./upstream.ts";

type Value = Record<string, unknown>;

/** An answer that is not a failure. */
export interface Success {
  kind: "success";
  /** Includes hidden fields, for rules and other calls of the same file. */
  value: Value;
  deviations: Deviation[];
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

  return (answer, input, show) => {
    const isGood = answer.status >= 200 && answer.status < 300;
    const decoded = decoding(() => decode(answer));
    const isReadable = !(decoded instanceof NexusError);
    const plain = isReadable ? decoded.value : {};
    const around = { input, status: answer.status };
    const own = isReadable ? decoded.own : {};
    const value = isReadable && response.type !== undefined ? values.complete(response.type, plain, around) : own;
    const scope = scopeOf(response.type === undefined ? own : { ...own, ...value }, input, answer.status);
    for (const rule of errors) {
      const failure = rule(scope, isReadable, show);
      if (failure) return failure;
    }
    if (!isGood) return statusFailure(file, tool, answer);
    if (!isReadable) return unreadable(file, show(decoded.message), answer);
    const success: Success = {
      kind: "success",
      value,
      deviations: decoded.deviations,
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
 * The names for rules and texts: the fields of the answer, and `input` and `status`, which win over fields of the same
 * name.
 */
function scopeOf(value: Value, input: Value, status: number): Scope {
  // Before the spread, so that all objects have the same hidden class; and again, because fields may overwrite them.
  const scope = { input, status, ...value };
  scope.input = input;
  scope.status = status;
  return scope;
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
