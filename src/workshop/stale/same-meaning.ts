import { isRecord } from "../../json/is-record.ts";

/** Whether two values say the same, whatever the order of members and the line breaks in their texts. */
export function isSameMeaning(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(canonical(before)) === JSON.stringify(canonical(after));
}

function canonical(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(/\s+/g, " ").trim();
  if (Array.isArray(value)) return value.map(canonical);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, canonical(member)]),
  );
}
