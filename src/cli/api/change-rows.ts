import { isRecord } from "../../json/is-record.ts";
import { visible, visibleJson } from "../../text/visible.ts";
import type { ApiChange } from "../../workshop/review/api-change.ts";
import { textChanges } from "../../workshop/review/text-changes.ts";
import { reviewedPart, LineOf } from "../../workshop/review/field-text.ts";
import { isLongChange, valueText } from "../../workshop/review/value-text.ts";
import type { Output } from "../output/output.ts";

/** Kinds of changes that let a tool do more than was approved. */
const GRAVE: ReadonlySet<string> = new Set(["effect raised", "endpoint added", "secret used"]);

const MOST_QUOTED = 40;

/** For commands that show changes. */
export const QUOTES = {
  quotes: { type: "boolean", help: "show all parts of API descriptions that are cited" },
} as const;

/** All differences in full, except defaults and long quotes of API descriptions: what is not shown must not be approved. */
export function showChanges(
  out: Pick<Output, "line" | "style">,
  changes: readonly ApiChange[],
  { all = false }: { all?: boolean | undefined } = {},
): void {
  const width = Math.max(...changes.map(({ kind }) => kind.length));
  for (const change of changes) {
    const { kind, path, message } = change;
    const label = kind.padEnd(width);
    out.line(`  ${GRAVE.has(kind) ? out.style("red", label) : label}  ${visible(`${path}: ${message}`)}`);
    const details = detailsOf(change, out);
    // The document beside the file says the same, and its hash is approved with it.
    const most = !all && hasParts(change) ? MOST_QUOTED : details.length;
    for (const line of details.slice(0, most)) out.line(`      ${line}`);
    if (details.length > most) {
      const more = details.length - most;
      out.line(`      ${out.style("dim", `… and ${more} more lines that are quoted from it. All of them: --quotes`)}`);
    }
  }
}

/** Whether it quotes parts of a JSON or YAML document, which may be most of it. */
function hasParts({ kind, after }: ApiChange): boolean {
  return kind === "document changed" && isRecord(after) && Object.hasOwn(after, "parts");
}

function detailsOf({ before, after }: ApiChange, out: Pick<Output, "style">): string[] {
  const removed = (line: string) => out.style("red", `- ${line}`);
  const added = (line: string) => out.style("green", `+ ${line}`);
  if (typeof before === "string" && typeof after === "string") {
    if (!isLongChange(before, after)) return [];
    return textChanges(before, after).flatMap((change) => [
      // The text around it may occur more than once.
      out.style("dim", `  at character ${change.at + 1}${change.lead === "" ? "" : `, after ${quoted(change.lead)}`}`),
      ...(change.removed === "" ? [] : [removed(quoted(change.removed))]),
      ...(change.added === "" ? [] : [added(quoted(change.added))]),
      ...(change.rest === "" ? [] : [out.style("dim", `  before ${quoted(change.rest)}`)]),
    ]);
  }
  const isPart = (value: unknown) => typeof value === "object" && value !== null;
  // If both values exist, the message has both.
  if (before !== undefined && after !== undefined) return [];
  return [
    ...(isPart(before) ? blockLines(reviewedPart(before)).map(removed) : []),
    ...(isPart(after) ? blockLines(reviewedPart(after)).map(added) : []),
  ];
}

function quoted(text: string): string {
  return visibleJson(JSON.stringify(text));
}

/** Parts that fit into this width are written on one line, as JSON. */
const ONE_LINE = 150;

/** A complete value over several lines. Texts stay on one line, with invisible characters escaped. */
function blockLines(value: unknown, indent = ""): string[] {
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
