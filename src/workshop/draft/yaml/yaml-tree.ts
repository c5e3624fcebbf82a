import { MAX_SOURCE_DEPTH, type Member, type Place, type SourceNode } from "../../../source/source-node.ts";
import { yamlScalar } from "./yaml-scalar.ts";
import type { YamlMap, YamlSection } from "./write-yaml.ts";

const NOWHERE: Place = { line: 1, column: 1 };

/**
 * What readers would make of the written sections, but for the places: reading the text of a large draft takes longer
 * than all the rest of drafting. Undefined if it is nested deeper than a file may be.
 */
export function treeOf(sections: readonly YamlSection[]): SourceNode | undefined {
  const whole = Object.fromEntries(sections.map(({ key, value }) => [key, value]));
  return nodeOf(whole, MAX_SOURCE_DEPTH);
}

function nodeOf(value: unknown, left: number): SourceNode | undefined {
  if (left === 0) return undefined;
  if (Array.isArray(value)) {
    const items: SourceNode[] = [];
    for (const item of value as unknown[]) {
      const node = nodeOf(item ?? null, left - 1);
      if (!node) return undefined;
      items.push(node);
    }
    return { kind: "list", place: NOWHERE, items };
  }
  if (typeof value === "object" && value !== null) return mapOf(value as YamlMap, left);
  if (typeof value === "string") return { kind: "scalar", place: NOWHERE, value, source: value };
  const source = yamlScalar(value, false);
  return { kind: "scalar", place: NOWHERE, value: Object.is(value, -0) ? 0 : value, source };
}

function mapOf(map: YamlMap, left: number): SourceNode | undefined {
  const members: Member[] = [];
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    const node = nodeOf(value, left - 1);
    if (!node) return undefined;
    members.push({ key, place: NOWHERE, node });
  }
  return { kind: "object", place: NOWHERE, members };
}
