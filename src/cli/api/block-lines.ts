import { isRecord } from "../../json/is-record.ts";
import { LineOf } from "../../workshop/review/field-text.ts";
import { valueText } from "../../workshop/review/value-text.ts";

/** Parts that fit into this width are written on one line, as JSON. */
const ONE_LINE = 150;

/** A complete value over several lines. Texts stay on one line, with invisible characters escaped. */
export function blockLines(value: unknown, indent = ""): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry, index) => memberLines(`[${index}]`, entry, indent));
  }
  if (!isRecord(value)) return [`${indent}${valueText(value)}`];
  return Object.entries(value).flatMap(([name, member]) => memberLines(valueText(name), member, indent));
}

function memberLines(name: string, value: unknown, indent: string): string[] {
  if (value instanceof LineOf) return [`${indent}${name}: ${value.text}`];
  const line = `${indent}${name}: ${valueText(value)}`;
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || line.length <= ONE_LINE) return [line];
  return [`${indent}${name}:`, ...blockLines(value, `${indent}  `)];
}
