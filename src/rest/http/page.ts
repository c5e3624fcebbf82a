import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";

const DEFAULT_SIZE = 50;
const MAX_SIZE = 500;

/** The query of operations that list something. */
export const PAGE_QUERY = {
  limit: z.coerce.number().int().min(1).max(MAX_SIZE).default(DEFAULT_SIZE).describe("Maximum number of items."),
  cursor: z.string().max(1000).optional().describe("The value of `next` in the answer before."),
};

export interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The schema of a list with its next page. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe("The cursor of the next page; null on the last one."),
  });
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

/**
 * One page of items. `keyOf` is unique, and the place of an item: what is removed between two pages does not move the rest.
 * Only the items of the page are shown.
 */
export function pageOf<T, V = T>(
  items: readonly T[],
  { limit, cursor }: PageQuery,
  keyOf: (item: T) => string,
  show: (item: T) => V | T = (item) => item,
): Page<V | T> {
  const after = cursor === undefined ? undefined : decoded(cursor);
  const sorted = items.map((item) => ({ item, key: keyOf(item) })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const next = rest.length > limit && last ? Buffer.from(JSON.stringify(last.key)).toString("base64url") : null;
  return { items: page.map(({ item }) => show(item)), next };
}

function decoded(cursor: string): string {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (typeof key === "string") return key;
  } catch {
    // Reported below.
  }
  throw new NexusError("ARGUMENTS_INVALID", "The cursor is not valid", {
    hint: "Use the value of `next` in the answer before, or leave it out.",
    mayHaveReached: false,
  });
}
