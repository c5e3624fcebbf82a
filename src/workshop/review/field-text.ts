import { isRecord } from "../../json/is-record.ts";
import { valueText } from "./value-text.ts";

/** A text that stands for a whole value, on one line. */
export class LineOf {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A part of a tool file for people, with each field of a type on one line. Nothing is left out but defaults. */
export function reviewedPart(part: unknown): unknown {
  const shown = withoutDefaults(part);
  if (!isRecord(shown) || !isRecord(shown["fields"])) return shown;
  const fields = Object.entries(shown["fields"]).map(([name, field]) => [name, fieldLine(name, field)]);
  return { ...shown, fields: Object.fromEntries(fields) };
}

/** `string {"format":"uuid"}`, `list of date`, `Pet`. */
function shapeText(shape: unknown): string {
  if (!isRecord(shape)) return valueText(shape);
  const { kind, type, of, ...more } = shape;
  const limits = Object.keys(more).length === 0 ? "" : ` ${valueText(more)}`;
  if ((kind === "scalar" || kind === "object") && typeof type === "string" && of === undefined) {
    return `${valueText(type)}${limits}`;
  }
  if ((kind === "list" || kind === "map") && type === undefined) return `${kind} of ${shapeText(of)}${limits}`;
  return valueText(shape);
}

/** `number, optional, at price [openapi#/…] - "Price of a ticket."` */
function fieldLine(name: string, field: unknown): unknown {
  if (!isRecord(field)) return field;
  const { shape, optional, wire, evidence, description, ...others } = field;
  const places = Array.isArray(evidence) ? evidence.map(valueText) : [];
  if (evidence !== undefined && !Array.isArray(evidence)) return field;
  const facts = [
    shapeText(shape),
    ...(optional === true ? ["optional"] : []),
    ...(wire === name ? [] : wire === false ? ["not in the body"] : [`at ${valueText(wire)}`]),
    ...Object.entries(others).map(([key, value]) => `${key} ${valueText(value)}`),
  ];
  const cited = places.length === 0 ? "" : ` [${places.join(", ")}]`;
  const words = description === undefined ? "" : ` - ${valueText(description)}`;
  return new LineOf(`${facts.join(", ")}${cited}${words}`);
}

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
