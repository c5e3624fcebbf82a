import { isRecord } from "../../../json/is-record.ts";

/** Functions cannot be sent between threads: each becomes a map with this key. The maps of documents have text as keys. */
const RESULT = 0;

/** A value of which functions without arguments are parts, such as facts of an API, as it can be sent to another thread. */
export function sendable(value: unknown): unknown {
  if (typeof value === "function") return new Map([[RESULT, sendable((value as () => unknown)())]]);
  return mapped(value, sendable);
}

/** A value that was sent, with its functions. */
export function received(value: unknown): unknown {
  if (!(value instanceof Map) || !value.has(RESULT)) return mapped(value, received);
  const result = received(value.get(RESULT));
  return () => result;
}

function mapped(value: unknown, part: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(part);
  if (value instanceof Map) return new Map([...(value as Map<unknown, unknown>)].map(([name, of]) => [name, part(of)]));
  if (value instanceof Set || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, part(of)]));
}
