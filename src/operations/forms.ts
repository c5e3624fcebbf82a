import { list, record, text, whole, type Form, type Infer, type MemberForms } from "../format/form.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { visible } from "../text/visible.ts";

/** In answers: any text, and one that may be missing. */
export const TEXT = text({ empty: true });
export const TEXT_OR_NULL = TEXT.nullable();

/** An object of an answer. Newer gateways may add members. */
export function answer<const M extends MemberForms>(name: string, members: M) {
  return record(members, { open: true }).named(name);
}

export const NAME = text({
  pattern: /^[a-z][a-z0-9-]{0,31}$/,
  not: "is not a valid name. Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
});

/** The name of a person or a thing as people read it: one line, without characters that cannot be seen. */
export const SHOWN_NAME = text({ empty: true, most: 200 })
  .schema({ minLength: 1 })
  .check((name, part) => {
    if (name.trim() === "") part.error("is empty");
    else if (visible(name.trim()) !== name.trim()) part.error("has invisible characters");
  })
  .to<string>({ read: (name) => name.trim(), write: (name) => name, fallback: "" });

export const DURATION = text({
  pattern: /^\d+(\.\d+)?(ms|s|m|h|d)$/,
  not: "is not a duration. Use 30s, 12h or 90d.",
});

export const TIME = text({
  pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  not: "is not a time. Use 2026-03-31T12:00:00Z.",
})
  .schema({ format: "date-time" })
  .check((time, part) => {
    if (/^\d/.test(time) && Number.isNaN(Date.parse(time)))
      part.error(`"${time.slice(0, 100)}" is not a day of the calendar`);
  });

/** The most items of one page. */
export const MAX_PAGE = 500;

/** The input of operations that list something. */
export const PAGE = {
  limit: whole({ least: 1, most: MAX_PAGE }).default(50).says("Maximum number of items."),
  cursor: text({ empty: true, most: 1000 }).says("The value of `next` in the answer before.").optional(),
};

/** The input of lists that have nothing else to choose. */
export const PAGE_INPUT = record(PAGE);

type PageInput = Infer<typeof PAGE_INPUT>;

/** A list with its next page. */
export function listOf<T, const M extends MemberForms = Record<never, never>>(name: string, item: Form<T>, more?: M) {
  const members = {
    items: list(item),
    next: TEXT_OR_NULL.says("The cursor of the next page; null on the last one."),
  };
  return answer(name, { ...members, ...more } as typeof members & M);
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

/**
 * One page of items. `keyOf` is unique, and the place of an item: what is removed between two pages does not move the rest.
 * Only the items of the page are shown.
 */
export function pageOf<T, V>(
  items: readonly T[],
  { limit, cursor }: PageInput,
  { keyOf, show }: { keyOf: (item: T) => string; show: (item: T) => V },
): Page<V> {
  const after = cursor === undefined ? undefined : decoded(cursor);
  const sorted = items.map((item) => ({ item, key: keyOf(item) })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const next = rest.length > limit && last ? Buffer.from(JSON.stringify(last.key)).toString("base64url") : null;
  return { items: page.map(({ item }) => show(item)), next };
}

/** For items that are shown as they are. */
export function asItIs<T>(item: T): T {
  return item;
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
