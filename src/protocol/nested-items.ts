import { isRecord } from "../json/is-record.ts";
import { isNestedDeeper, MAX_NESTING } from "../json/nesting.ts";
import type { Result } from "./json-rpc.ts";
import { itemsMember } from "./methods.ts";

interface Flattened {
  result: Result;
  /** The names of the items that were left out. */
  leftOut: string[];
}

/** The result of a list without items that are nested too deeply; undefined if the result is unusable. */
export function withoutNestedItems(method: string, result: Result): Flattened | undefined {
  const member = itemsMember(method);
  const items: unknown = member === undefined ? undefined : result[member];
  if (member === undefined || !Array.isArray(items)) return undefined;
  const kept: unknown[] = [];
  const leftOut: string[] = [];
  for (const item of items as unknown[]) {
    // The result and its list add two levels.
    if (isNestedDeeper(item, MAX_NESTING - 2)) leftOut.push(nameOf(item));
    else kept.push(item);
  }
  const flattened = { ...result, [member]: kept };
  return isNestedDeeper(flattened) ? undefined : { result: flattened, leftOut };
}

function nameOf(item: unknown): string {
  if (!isRecord(item)) return "?";
  const name = [item["name"], item["uri"], item["uriTemplate"], item["taskId"]].find((one) => typeof one === "string");
  return typeof name === "string" ? name : "?";
}
