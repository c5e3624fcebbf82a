import { visible, visibleJson } from "../../text/visible.ts";
import type { ApiChange } from "../../workshop/review/api-change.ts";
import { textChanges } from "../../workshop/review/text-changes.ts";
import { withoutDefaults } from "../../workshop/review/without-defaults.ts";
import { isLongChange } from "../../workshop/review/value-text.ts";
import type { Output } from "../output/output.ts";
import { blockLines } from "./block-lines.ts";

/** Kinds of changes that let a tool do more than was approved. */
const GRAVE: ReadonlySet<string> = new Set(["effect raised", "endpoint added", "secret used"]);

/** All differences in full, except defaults: what is not shown must not be approved. */
export function showChanges(out: Pick<Output, "line" | "style">, changes: readonly ApiChange[]): void {
  const width = Math.max(...changes.map(({ kind }) => kind.length));
  for (const change of changes) {
    const { kind, path, message } = change;
    const label = kind.padEnd(width);
    out.line(`  ${GRAVE.has(kind) ? out.style("red", label) : label}  ${visible(`${path}: ${message}`)}`);
    for (const line of detailsOf(change, out)) out.line(`      ${line}`);
  }
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
    ...(isPart(before) ? blockLines(withoutDefaults(before)).map(removed) : []),
    ...(isPart(after) ? blockLines(withoutDefaults(after)).map(added) : []),
  ];
}

function quoted(text: string): string {
  return visibleJson(JSON.stringify(text));
}
