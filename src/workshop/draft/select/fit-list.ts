import { bytesOf } from "../../compile/json-schema.ts";
import { toolDefinition } from "../../compile/tool-definition.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";

/** A little less than the compiler allows, so that small edits do not break it. */
const LIST_BYTES = 92 * 1024;

/** After so many that do not fit, no other one is tried: each costs time. */
const MOST_MISSES = 20;

/** The tools that fit into one list, in their order, at most `most`. A small one may still fit after a large one. */
export function fittingTools(file: ToolFile, names: readonly string[], most: number): Set<string> {
  const listed = new Set<string>();
  let bytes = 0;
  let misses = 0;
  for (const name of names) {
    const spec = file.tools[name];
    if (!spec || listed.size >= most) continue;
    const size = bytesOf(toolDefinition(file, name, spec));
    if (bytes + size > LIST_BYTES) {
      misses += 1;
      if (misses > MOST_MISSES) break;
      continue;
    }
    bytes += size;
    listed.add(name);
    if (bytes > LIST_BYTES - 600) break;
  }
  return listed;
}
