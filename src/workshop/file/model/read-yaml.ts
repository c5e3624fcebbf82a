import { messageOf } from "../../../errors/nexus-error.ts";
import { isExactAsNumber } from "../../../json/exact-json.ts";
import type { Place, SourceNode } from "../../../source/source-node.ts";
import { readStrictYaml } from "../../../source/yaml-source.ts";
import type { Problem } from "../../../format/problem.ts";

export const MAX_TOOL_FILE_BYTES = 16 * 1024 * 1024;
/** For files that are made of the largest API descriptions. */
const LIMITS_OF_FILES = { maxLexemes: 8_000_000, maxValues: 2_000_000 };
const START: Place = { line: 1, column: 1 };

/** Not `.inf` or other YAML forms of numbers. */
const DECIMAL = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i;

/** Beyond the exact range they limit nothing. */
const LIMITS = new Set(["minimum", "maximum"]);

/** Parses a tool file or a lock, with all YAML problems. */
export function readYaml(text: string): { tree: SourceNode | undefined; problems: Problem[] } {
  if (Buffer.byteLength(text) > MAX_TOOL_FILE_BYTES) {
    return { tree: undefined, problems: [problemAt(START, "the file is larger than 16 MB")] };
  }
  try {
    const { node, mistakes } = readStrictYaml(text, LIMITS_OF_FILES);
    const about = node ? "" : "not valid YAML: ";
    const problems = mistakes.map(({ place, what, hint }) => problemAt(place, about + what, hint));
    const all = [...problems, ...(node ? inexactNumbersIn(node) : [])];
    return { tree: node, problems: all.toSorted((a, b) => a.line - b.line || a.column - b.column) };
  } catch (error) {
    // The library's own limits, and the depth of the stack.
    return { tree: undefined, problems: [problemAt(START, `cannot be read as YAML: ${messageOf(error)}`)] };
  }
}

/** A number that would be sent as a different one is a problem. */
function inexactNumbersIn(node: SourceNode): Problem[] {
  if (node.kind === "scalar") return [];
  const inner = node.kind === "list" ? node.items.map((item) => ({ key: "", node: item })) : node.members;
  return inner.flatMap(({ key, node: each }) => {
    if (each.kind !== "scalar") return inexactNumbersIn(each);
    const { value, source = "", place } = each;
    if (typeof value !== "number" || LIMITS.has(key) || !DECIMAL.test(source) || isExactAsNumber(source)) return [];
    return [
      problemAt(place, `${source} has too many digits to be an exact number`, `As text it is exact: "${source}"`),
    ];
  });
}

function problemAt(place: Place, message: string, hint?: string): Problem {
  return { ...place, path: "", message, ...(hint === undefined ? {} : { hint }), severity: "error" };
}
