import { escapePart } from "./pointer.ts";

/** A place in the value. */
interface ValueLocation {
  /** A JSON pointer into the value. */
  path: string;
  /** The same in parts; numbers are array indexes. */
  segments: (string | number)[];
  value: unknown;
  parent: unknown;
}

/** A place in the schema and in the value. */
export interface SchemaLocation extends ValueLocation {
  /** The schema with the failed keyword. */
  schema: Readonly<Record<string, unknown>>;
  /** The schema one step above, if that step was `additionalProperties` or `unevaluatedProperties`. */
  owner?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it is about the name of a property, not its value. */
  isName?: boolean;
  /** Whether it is about an item under `contains`. */
  isCandidate?: boolean;
  /** Whether the schema allows nothing. */
  isForbidden?: boolean;
}

/** The value at a pointer; only the value shows which parts are array indexes. */
export function locateValue(parts: readonly string[], root: unknown): ValueLocation {
  let value = root;
  let parent: unknown;
  const segments = parts.map((part) => {
    parent = value;
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined;
    return Array.isArray(parent) ? Number(part) : part;
  });
  return { path: parts.map((part) => `/${escapePart(part)}`).join(""), segments, value, parent };
}
