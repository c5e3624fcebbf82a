import { shorten } from "../../text/shorten.ts";

/** What an excerpt left out: items of a list, members of an object, or characters of a text. */
export interface Omission {
  path: string;
  shown: number;
  of: number;
}

export interface Excerpt {
  value: Record<string, unknown>;
  /** Empty if the value is complete. */
  omitted: Omission[];
}

/**
 * The value in at most this many bytes of JSON: every list keeps its first items, the same number for all lists. The
 * shape stays the same, so it still matches the tool's schema.
 */
export function excerptOf(value: Record<string, unknown>, maxBytes: number): Excerpt {
  if (bytesOf(value) <= maxBytes) return { value, omitted: [] };
  const shorter = (kind: keyof Limits, others: Partial<Limits>) =>
    largestThatFits(
      Math.min(longest(value, kind), maxBytes),
      (limit) => cut(value, { ...NO_LIMITS, ...others, [kind]: limit }),
      maxBytes,
    );
  // If shorter lists do not suffice, texts are shortened too, and then objects: a map may have very many members.
  return (
    shorter("list", {}) ??
    shorter("text", { list: 0 }) ??
    shorter("members", { list: 0, text: 0 }) ??
    cut(value, { list: 0, text: 0, members: 0 })
  );
}

interface Limits {
  list: number;
  text: number;
  members: number;
}

const NO_LIMITS: Limits = { list: Infinity, text: Infinity, members: Infinity };

function largestThatFits(longest: number, make: (limit: number) => Excerpt, maxBytes: number): Excerpt | undefined {
  let best: Excerpt | undefined;
  for (let [low, high] = [0, longest]; low <= high;) {
    const limit = (low + high) >> 1;
    const excerpt = make(limit);
    const fits = bytesOf(excerpt.value) <= maxBytes;
    if (fits) best = excerpt;
    if (fits) low = limit + 1;
    else high = limit - 1;
  }
  return best;
}

function cut(value: Record<string, unknown>, limits: Limits): Excerpt {
  const omitted: Omission[] = [];
  const walk = (item: unknown, path: string): unknown => {
    if (typeof item === "string") {
      if (item.length <= Math.max(limits.text, MIN_TEXT)) return item;
      const shown = shorten(item, Math.max(limits.text, MIN_TEXT));
      omitted.push({ path, shown: shown.length - 1, of: item.length });
      return shown;
    }
    if (Array.isArray(item)) {
      const kept = item.slice(0, limits.list);
      if (kept.length < item.length) omitted.push({ path, shown: kept.length, of: item.length });
      return kept.map((entry, index) => walk(entry, `${path}[${index}]`));
    }
    if (typeof item !== "object" || item === null) return item;
    const members = Object.entries(item);
    const kept = members.slice(0, limits.members);
    if (kept.length < members.length) omitted.push({ path, shown: kept.length, of: members.length });
    return Object.fromEntries(kept.map(([key, member]) => [key, walk(member, path === "" ? key : `${path}.${key}`)]));
  };
  return { value: walk(value, "") as Record<string, unknown>, omitted };
}

/** Dates, codes and similar texts are not shortened. */
const MIN_TEXT = 64;

function longest(value: unknown, kind: keyof Limits): number {
  if (typeof value === "string") return kind === "text" ? value.length : 0;
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  const own = kind === (Array.isArray(value) ? "list" : "members") ? members.length : 0;
  return members.reduce((most: number, item) => Math.max(most, longest(item, kind)), own);
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
