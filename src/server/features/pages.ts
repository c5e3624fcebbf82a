import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { rpcError } from "../core/rpc-error.ts";

/**
 * One page of a list. Cursors are opaque to clients: the second page's is the empty string, which is as valid
 * as any other, since only a missing `nextCursor` ends a list.
 */
export function pageOf<T>(items: readonly T[], size: number, cursor: unknown): { items: T[]; nextCursor?: string } {
  const page = cursor === undefined ? 0 : pageNumber(cursor);
  const end = (page + 1) * size;
  const slice = items.slice(page * size, end);
  if (page > 0 && slice.length === 0) throw rpcError(INVALID_PARAMS, "There is no page for this cursor.");
  return end < items.length ? { items: slice, nextCursor: page === 0 ? "" : String(page + 1) } : { items: slice };
}

function pageNumber(cursor: unknown): number {
  if (cursor === "") return 1;
  if (typeof cursor === "string" && /^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor);
  throw rpcError(INVALID_PARAMS, "The cursor is not one of this server.");
}
