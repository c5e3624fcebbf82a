import type { CompiledApi } from "../compile/compile.ts";
import { byWeight, changeOf, type ApiChange } from "./api-change.ts";
import { citedChanges } from "./cited-changes.ts";
import { fileChanges } from "./file-changes.ts";
import { differingLeaves, pathText } from "./leaves.ts";
import { inputChanges, outputChanges } from "./schema-changes.ts";
import { fromTo } from "./value-text.ts";

/**
 * The differences between the approved and the current version, by kind; everything if nothing was approved. Empty
 * exactly if the hashes are equal. `documents`: the texts of the file's documents, whose cited lines are served.
 */
export function differences(
  before: CompiledApi | undefined,
  after: CompiledApi,
  documents: Readonly<Record<string, string>> = {},
): ApiChange[] {
  if (before?.hash === after.hash) return [];
  const schemas = before ? schemaChanges(before, after) : [];
  const changes = [
    ...schemas,
    ...fileChanges(before?.file, after.file, schemas),
    ...citedChanges(before?.citations ?? {}, after.citations, documents),
  ];
  return byWeight(changes.length > 0 ? changes : otherwiseCompiled(before, after));
}

/** Differences that callers see: arguments and results. */
function schemaChanges(before: CompiledApi, after: CompiledApi): ApiChange[] {
  return Object.entries(after.tools).flatMap(([name, now]) => {
    const old = Object.hasOwn(before.tools, name) ? before.tools[name] : undefined;
    if (!old) return [];
    return [
      ...inputChanges(old.inputSchema, now.inputSchema, name),
      ...outputChanges(old.outputSchema ?? {}, now.outputSchema ?? {}, `${name}()`),
    ];
  });
}

/** The same file, compiled by another version of the program. */
function otherwiseCompiled(before: CompiledApi | undefined, after: CompiledApi): ApiChange[] {
  const leaves = differingLeaves(before?.tools, after.tools, ["compiled", "tools"]);
  if (leaves.length === 0) return [{ kind: "other", path: "", message: "compiled differently" }];
  return leaves.map(({ path, before: old, after: now }) =>
    changeOf({ kind: "other", path: pathText(path), message: fromTo(old, now) }, [old, now]),
  );
}
