import { parsePattern, type AccessPattern } from "../host/directory/policy.ts";

/** A pattern of a key: what it may use of servers, or which sets. */
export type GrantPattern =
  | { kind: "set"; text: string; name: string }
  | { kind: "things"; text: string; pattern: AccessPattern };

/** The name of a set, the start of names with `*`, or `*` for every set. */
const SET = /^set:(\*|[a-z][a-z0-9-]{0,31}\*?)$/;

/** Throws if the pattern is invalid. */
export function parseGrant(text: string): GrantPattern {
  const [, name] = SET.exec(text) ?? [];
  return name === undefined ? { kind: "things", text, pattern: parsePattern(text) } : { kind: "set", text, name };
}
