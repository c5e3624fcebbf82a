import type { CompiledApi } from "../compile/compile.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { byWeight, changeOf, type ApiChange } from "./api-change.ts";
import { citedChanges } from "./cited-changes.ts";
import { fileChanges } from "./file-changes.ts";
import { differingLeaves, pathText } from "./leaves.ts";
import { schemasOf } from "./seen-alone.ts";
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

/** Differences that callers see: arguments and results, also of tools that are found by searching. */
function schemaChanges(before: CompiledApi, after: CompiledApi): ApiChange[] {
  const changed = changedTools(before.file, after.file);
  return Object.keys(after.file.tools).flatMap((name) => {
    const [old, now] = [schemasIn(before, name, changed), schemasIn(after, name, changed)];
    if (!old || !now) return [];
    return [...inputChanges(old[0], now[0], name), ...outputChanges(old[1], now[1], `${name}()`)];
  });
}

/** Of a listed tool, as it was compiled; undefined if there is no such tool, or it has not changed. */
function schemasIn({ file, tools }: CompiledApi, name: string, changed: ReadonlySet<string>) {
  const listed = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (listed) return [listed.inputSchema, listed.outputSchema ?? {}] as const;
  const spec = Object.hasOwn(file.tools, name) ? file.tools[name] : undefined;
  return spec && changed.has(name) ? schemasOf(file, name, spec) : undefined;
}

/** The tools that differ, or that have a type that does. */
function changedTools(before: ToolFile, after: ToolFile): Set<string> {
  const differ = <T>(old: Readonly<Record<string, T>>, now: Readonly<Record<string, T>>) =>
    Object.keys(now).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  const users = toolsByType(after);
  const types = differ(before.types, after.types);
  return new Set([...differ(before.tools, after.tools), ...types.flatMap((type) => [...(users.get(type) ?? [])])]);
}

/** The same file, compiled by another version of the program. */
function otherwiseCompiled(before: CompiledApi | undefined, after: CompiledApi): ApiChange[] {
  if (before && before.format !== after.format) {
    const formats = [before.format, after.format] as const;
    return [changeOf({ kind: "other", path: "format", message: fromTo(...formats) }, formats)];
  }
  const leaves = differingLeaves(before?.tools, after.tools, ["compiled", "tools"]);
  if (leaves.length === 0) return [{ kind: "other", path: "", message: "compiled differently" }];
  return leaves.map(({ path, before: old, after: now }) =>
    changeOf({ kind: "other", path: pathText(path), message: fromTo(old, now) }, [old, now]),
  );
}
