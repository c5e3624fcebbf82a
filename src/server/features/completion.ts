import { asText } from "../../text/as-text.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import type { CompleteResult } from "../../protocol/mcp.ts";
import { rpcError } from "../core/rpc-error.ts";
import type { Completer, Features } from "./features.ts";

/** The specification's limit for one answer. */
const MAX_VALUES = 100;

export function completionOf(features: Features, params: Params): CompleteResult {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument)) throw rpcError(INVALID_PARAMS, `"ref" and "argument" are required.`);
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw rpcError(INVALID_PARAMS, `"argument" needs "name" and "value".`);
  }
  const known = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  const completers = completersOf(features, ref);
  const complete = Object.hasOwn(completers, name) ? completers[name] : undefined;
  const candidates = complete?.(value, known as Record<string, string>) ?? [];
  const values = candidates.slice(0, MAX_VALUES);
  return { completion: { values, total: candidates.length, hasMore: candidates.length > values.length } };
}

/** Completes by the beginning, ignoring case. */
export function oneOf(...values: string[]): Completer {
  return (typed) => values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()));
}

function completersOf({ prompts, templates }: Features, ref: Record<string, unknown>): Record<string, Completer> {
  const owner = ref["type"] === "ref/prompt" ? prompts.get(asText(ref["name"])) : templates.get(asText(ref["uri"]));
  if (!owner) throw rpcError(INVALID_PARAMS, "The reference does not name anything that this server offers.");
  return owner.complete ?? {};
}
