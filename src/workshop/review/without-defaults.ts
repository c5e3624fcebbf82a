import { isRecord } from "../../json/is-record.ts";

/** Members of a tool file as it is read that say nothing if they have this value, as JSON. */
const DEFAULTS: ReadonlySet<string> = new Set([
  "optional:false",
  "hidden:false",
  "keepEmpty:false",
  "sourcePayload:false",
  'whitespace:"keep"',
  'unknown:"reject"',
  "evidence:[]",
  "rules:[]",
  "errors:[]",
  "examples:[]",
  "checks:[]",
  "xml:{}",
  "meta:{}",
  "query:{}",
  "headers:{}",
  "public:[]",
]);

/**
 * A part of a tool file for people: without what is the same as not written, and with the type of a single value as its
 * name. Two parts that differ are different here too, because a default that changes is a change of its own.
 */
export function withoutDefaults(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutDefaults);
  if (!isRecord(part)) return part;
  const members = Object.entries(part).filter(([name, value]) => !isDefault(name, value));
  const shown = Object.fromEntries(members.map(([name, value]) => [name, withoutDefaults(value)]));
  const { kind, type, ...more } = shown;
  return kind === "scalar" && typeof type === "string" && Object.keys(more).length === 0 ? type : shown;
}

function isDefault(name: string, value: unknown): boolean {
  const isSmall = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  return isSmall && DEFAULTS.has(`${name}:${JSON.stringify(value)}`);
}
