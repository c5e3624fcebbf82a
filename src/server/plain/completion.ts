import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import type { CompleteResult } from "../../protocol/mcp.ts";
import type { Completer, Features } from "./features.ts";
import { RpcError } from "./rpc-error.ts";

/** The specification's limit for one answer. */
const MAX_VALUES = 100;

export function completionOf(features: Features, params: Params): CompleteResult {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument)) throw new RpcError(INVALID_PARAMS, `"ref" and "argument" are needed.`);
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw new RpcError(INVALID_PARAMS, `"argument" needs "name" and "value".`);
  }
  const settled = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  const candidates = completersOf(features, ref)[name]?.(value, settled as Record<string, string>) ?? [];
  const values = candidates.slice(0, MAX_VALUES);
  return { completion: { values, total: candidates.length, hasMore: candidates.length > values.length } };
}

/** Completes by beginning, ignoring case. */
export function oneOf(...values: string[]): Completer {
  return (typed) => values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()));
}

function completersOf(features: Features, ref: Record<string, unknown>): Record<string, Completer> {
  const owner =
    ref["type"] === "ref/prompt"
      ? features.prompts.find(({ prompt }) => prompt.name === ref["name"])
      : features.templates.find(({ template }) => template.uriTemplate === ref["uri"]);
  if (!owner) throw new RpcError(INVALID_PARAMS, "The reference names nothing that this server offers.");
  return owner.complete ?? {};
}
