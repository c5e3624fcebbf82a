import type { CompiledApi } from "../compile/compile.ts";
import type { ApiChange } from "../review/api-change.ts";
import { citedChanges } from "../review/cited-changes.ts";
import { changeInFile } from "../review/file-changes.ts";
import { differingLeaves } from "../review/leaves.ts";
import { ChangeMeaning, type Meaning } from "./change-meaning.ts";
import type { VersionChangeKind } from "./version-number.ts";

/** A difference between two versions, and what it means for callers. */
export interface VersionedChange extends ApiChange {
  means: Meaning;
}

export interface VersionChange {
  /** That of the change with the most consequences; `none` if the hashes are equal. */
  kind: VersionChangeKind;
  /** Those with the most consequences first. */
  changes: VersionedChange[];
}

const ORDER: readonly Meaning[] = ["breaking", "widened", "wording"];

/**
 * What a newer version changes for the callers of an older one. Every changed value of the file is judged by itself, and
 * whatever is not known to be harmless is breaking.
 */
export function changeBetween(before: CompiledApi, after: CompiledApi): VersionChange {
  if (before.hash === after.hash) return { kind: "none", changes: [] };
  const meaning = new ChangeMeaning(before.file, after.file);
  const inFile = differingLeaves(before.file, after.file).map((leaf) => ({
    ...changeInFile(leaf, after.file),
    means: meaning.of(leaf),
  }));
  const cited = citedChanges(before.citations, after.citations, {}).map((change) => ({
    ...change,
    means: "wording" as const,
  }));
  const all = [...inFile, ...cited].toSorted((a, b) => ORDER.indexOf(a.means) - ORDER.indexOf(b.means));
  // The same file, compiled by another version of the program: what is sent and read follows from the file alone.
  const compiled: VersionedChange = { kind: "other", path: "", message: "compiled differently", means: "wording" };
  const changes = all.length > 0 ? all : [compiled];
  return { kind: changes[0]?.means ?? "wording", changes };
}
