import type { Evidence } from "../../api-facts.ts";
import { keyOf, type FieldNode, type FieldTree, type SampleScalar } from "../fields/field-node.ts";

/** A part of a sample message, with its line. */
export interface SampleNode {
  name: string;
  attribute: boolean;
  line: number;
  namespace?: string;
  /** An array of JSON; the children are its items. */
  list?: true;
  value?: SampleScalar;
  children: SampleNode[];
}

const MOST_SAMPLES = 50;

/** Adds what a sample shows to the fields of a message. `isPart`: a sample that shows only a part, such as an error. */
export function addSample(tree: FieldTree, sample: SampleNode, evidence: (line: number) => Evidence): void {
  addTo(tree, tree.root, sample, evidence);
}

function addTo(tree: FieldTree, node: FieldNode, sample: SampleNode, evidence: (line: number) => Evidence): void {
  if (sample.namespace !== undefined) node.namespace ??= sample.namespace;
  if (node.shown.length < MOST_SAMPLES) node.shown.push(evidence(sample.line));
  if (!sample.list) return addContent(tree, node, sample, evidence);
  node.list = true;
  for (const item of sample.children) {
    if (item.list) node.mixed = true;
    else addContent(tree, node, item, evidence);
  }
}

function addContent(tree: FieldTree, node: FieldNode, sample: SampleNode, evidence: (line: number) => Evidence): void {
  node.contents++;
  if (sample.value !== undefined && node.samples.length < MOST_SAMPLES) node.samples.push(sample.value);
  const groups = new Map<string, SampleNode[]>();
  for (const child of sample.children) {
    const same = groups.get(keyOf(child));
    if (same) same.push(child);
    else groups.set(keyOf(child), [child]);
  }
  for (const [first, ...others] of groups.values()) {
    const child = first && tree.child(node, first);
    if (!child || !first) continue;
    child.presentIn++;
    if (others.length > 0) child.list = true;
    for (const each of [first, ...others]) addTo(tree, child, each, evidence);
  }
}
