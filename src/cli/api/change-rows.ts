import { visible } from "../../errors/visible.ts";
import type { Change } from "../../workshop/review/change.ts";
import type { Output } from "../output.ts";

/** Kinds that let a tool do more than was agreed to. */
const GRAVE: ReadonlySet<string> = new Set(["effect raised", "endpoint added", "secret used"]);

export function showChanges(out: Output, changes: readonly Change[]): void {
  const width = Math.max(...changes.map(({ kind }) => kind.length));
  for (const { kind, path, message } of changes) {
    const label = kind.padEnd(width);
    out.line(`  ${GRAVE.has(kind) ? out.style("red", label) : label}  ${visible(`${path}: ${message}`)}`);
  }
}
