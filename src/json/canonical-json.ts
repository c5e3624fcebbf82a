import { isRecord } from "./is-record.ts";

/** The same JSON value with the members of every object sorted by name. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}

/** The same text for equal JSON values, whatever the order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value)) ?? "null";
}
