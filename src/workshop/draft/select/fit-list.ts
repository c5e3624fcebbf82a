import { bytesOf } from "../../compile/json-schema.ts";
import { fittedDefinition, type CutParts } from "../../compile/tool-definition.ts";
import { joinFirst } from "../../../text/shorten.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";

/** A little less than the compiler allows, so that small edits do not break it. */
const LIST_BYTES = 92 * 1024;

/** After so many that do not fit, no other one is tried: each costs time. */
const MOST_MISSES = 20;

/**
 * The tools that fit into one list, in their order, at most `most`, with what their definitions do not show. A small
 * one may still fit after a large one.
 */
export function fittingTools(file: ToolFile, names: readonly string[], most: number): Map<string, CutParts> {
  const listed = new Map<string, CutParts>();
  let bytes = 0;
  let misses = 0;
  for (const name of names) {
    const spec = file.tools[name];
    if (!spec || listed.size >= most) continue;
    const { tool, cut } = fittedDefinition(file, name, spec);
    const size = bytesOf(tool);
    if (bytes + size > LIST_BYTES) {
      misses += 1;
      if (misses > MOST_MISSES) break;
      continue;
    }
    bytes += size;
    listed.set(name, cut);
    if (bytes > LIST_BYTES - 600) break;
  }
  return listed;
}

const MOST_NAMES = 8;

/** What to ask about the parts of a listed tool that its definition does not show. */
export function cutQuestions(name: string, cut: CutParts): { about: string; ask: string }[] {
  return (["input", "output"] as const).flatMap((side) => {
    const parts = [...new Set(cut[side])];
    if (parts.length === 0) return [];
    const which = parts.includes("") ? "The whole result" : joinFirst(parts, MOST_NAMES);
    const ask = `Too large for the list: ${which} ${parts.length === 1 ? "is" : "are"} shown as any object there. Can fields be left out?`;
    return [{ about: `tools.${name}.${side === "input" ? "input" : "response"}`, ask }];
  });
}
