import { isRecord } from "../json/is-record.ts";
import type { Params } from "./json-rpc.ts";
import { CALLS_META, FINDS_META, SEARCHED_META, SEARCHING_TOOLS, SHOWN_META } from "./meta.ts";

/**
 * How a host or gateway shows the tools of a server in its process to a caller, by the server's own names. The caller may not
 * know of a tool that is not in it.
 */
export type ShownTools = Readonly<Record<string, ShownTool>>;

export interface ShownTool {
  name: string;
  /** The name of the tool with which it is called: its own, or that of call_tool. */
  call: string;
  description?: string | undefined;
  /** Arguments that are given for the caller. */
  without?: readonly string[] | undefined;
}

/** Undefined where nothing is in front of this server, or it shows everything as it is. */
export function shownIn({ _meta: meta }: Params): ShownTools | undefined {
  const shown = isRecord(meta) ? meta[SHOWN_META] : undefined;
  // Only a host or gateway in this process sets it.
  return isRecord(shown) ? (shown as ShownTools) : undefined;
}

/** Whether a tool of a list is one that only searching finds. */
export function isSearched(item: unknown): boolean {
  return metaOf(item)[SEARCHED_META] === true;
}

/** Whether a tool of an API finds, describes or calls others; a tool of the API itself may have the same name. */
export function isSearching(item: unknown): boolean {
  const { [CALLS_META]: argument, [FINDS_META]: member } = metaOf(item);
  if (argument === undefined && member === undefined) return false;
  return isRecord(item) && SEARCHING_TOOLS.includes(String(item["name"]));
}

/** Whether there is more than a list shows. */
export function findsOthers(items: readonly unknown[]): boolean {
  return items.some((item) => metaOf(item)[FINDS_META] !== undefined);
}

/** The parameters that ask for all tools. */
export const WITH_SEARCHED: Params = { _meta: { [SEARCHED_META]: true } };

function metaOf(item: unknown): Record<string, unknown> {
  return isRecord(item) && isRecord(item["_meta"]) ? item["_meta"] : {};
}
