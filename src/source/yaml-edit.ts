import { isMap, isScalar, isSeq, type Document, type Node } from "yaml";
import { parseBoundedYaml } from "./bounded-yaml.ts";
import type { SourceChange } from "./source-change.ts";
import { keyOf } from "./yaml-source.ts";
import { yamlStyle } from "./yaml-style.ts";

/** Changes a YAML text by writing it again; comments, order, blank lines, indentation and line breaks are kept. */
export function editYaml(text: string, changes: readonly SourceChange[]): string {
  const document = parseBoundedYaml(text, { merge: true });
  for (const { path, value } of changes) change(document, path, value);
  const edited = document.toString(yamlStyle(text));
  return text.includes("\r\n") ? edited.replaceAll(/\r?\n/g, "\r\n") : edited;
}

function change(document: Document, path: SourceChange["path"], value: unknown): void {
  const [last, ...above] = path.toReversed();
  if (last === undefined) return;
  document.contents ??= document.createNode({});
  let parent = new Container(document, document.contents);
  for (const key of above.toReversed()) parent = parent.inner(key);
  if (value === undefined) parent.remove(last);
  else parent.set(last, value);
}

/** A map or a list. Members are found by the written form of their keys: 123 and "123" are the same name. */
class Container {
  readonly #document: Document;
  readonly #node: unknown;

  constructor(document: Document, node: unknown) {
    this.#document = document;
    this.#node = node;
  }

  inner(key: string | number): Container {
    const at = this.#indexOf(key);
    if (at === -1) this.set(key, {});
    const item = this.#items()[at === -1 ? this.#items().length - 1 : at];
    return new Container(this.#document, isMap(this.#node) ? (item as { value: unknown }).value : item);
  }

  remove(key: string | number): void {
    const at = this.#indexOf(key);
    if (at !== -1) this.#items().splice(at, 1);
  }

  set(key: string | number, value: unknown): void {
    const at = this.#indexOf(key);
    const pair = isMap(this.#node) ? this.#node.items[at] : undefined;
    const before = pair?.value;
    const node = this.#document.createNode(value) as Node;
    // An empty collection must be written as [] or {}; its new members are still written in block form.
    if ((isMap(this.#node) || isSeq(this.#node)) && this.#node.items.length === 0) this.#node.flow = false;
    // A comment after a value is kept for the new value.
    if (isScalar(before) && isScalar(node)) node.comment = before.comment ?? null;
    else if (isScalar(before)) node.commentBefore = before.comment ?? null;
    if (pair) pair.value = node;
    else if (isMap(this.#node)) this.#node.items.push(this.#document.createPair(key, node));
    else this.#items().splice(at === -1 ? this.#items().length : at, 1, node);
  }

  #indexOf(key: string | number): number {
    if (isMap(this.#node)) return this.#node.items.findIndex((pair) => keyOf(pair) === String(key));
    return Number(key) < this.#items().length ? Number(key) : -1;
  }

  #items(): unknown[] {
    if (isMap(this.#node) || isSeq(this.#node)) return this.#node.items;
    throw new TypeError("neither a map nor a list");
  }
}
