import type { ContentFacts, Evidence } from "../../api-facts.ts";
import { addDoubt, applyRow } from "../fields/apply-row.ts";
import { FieldTree, keyOf, type FieldNode } from "../fields/field-node.ts";
import { nodeSchema } from "../fields/node-schema.ts";
import type { FieldTable } from "../field-tables.ts";
import { addSample, type SampleNode } from "../samples/sample-node.ts";
import type { BodySample } from "../samples/find-samples.ts";
import type { FieldRow } from "../tables/field-rows.ts";
import { looseName } from "../words.ts";

const MEDIA = {
  json: "application/json",
  xml: "application/xml",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  text: "text/plain",
} as const;

const MAX_NESTED = 6;

/** The body of a request or of an answer, as samples and tables describe it. */
export class MessageBody {
  readonly tree = new FieldTree();
  readonly #samples: BodySample[] = [];
  readonly #evidence: (line: number) => Evidence;
  #kind: keyof typeof MEDIA | undefined;

  constructor(evidence: (line: number) => Evidence) {
    this.#evidence = evidence;
  }

  get kind(): keyof typeof MEDIA | undefined {
    return this.#kind;
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0 && this.tree.root.children.size === 0;
  }

  /** The name of the document's element, if it is XML. */
  get rootName(): string {
    return this.tree.root.name;
  }

  add(sample: BodySample): boolean {
    if (this.#kind !== undefined && this.#kind !== sample.kind && this.#samples.length > 0) return false;
    if (sample.kind === "xml" && sample.node) {
      if (this.rootName !== "" && this.rootName !== sample.node.name) return false;
      if (this.rootName === "") this.tree.rename(sample.node.name);
    }
    this.#kind = sample.kind;
    this.#samples.push(sample);
    if (sample.node) addSample(this.tree, sample.node, this.#evidence);
    return true;
  }

  /** What the text says about the content type, where no sample shows it. */
  assume(kind: keyof typeof MEDIA): void {
    this.#kind ??= kind;
  }

  has(row: FieldRow): boolean {
    const [first] = row.paths;
    return first !== undefined && this.tree.find(first, this.tree.root) !== undefined;
  }

  /** Places the fields of a table. `base`: the field that they are members of. */
  place(rows: readonly FieldRow[], base: FieldNode = this.tree.root): void {
    if (base === this.tree.root) this.#takeRoot(rows);
    const open: FieldNode[] = [base];
    let near = base;
    for (const row of rows) {
      if (row.isXmlPath || row.attribute) this.assume("xml");
      if (this.#isRoot(row)) {
        this.#nameRoot(row);
        continue;
      }
      const owner = row.level > 0 ? (open[Math.min(row.level, open.length - 1)] ?? base) : base;
      for (const path of row.paths) {
        const last = path.at(-1);
        const steps =
          row.attribute && last && !last.attribute ? [...path.slice(0, -1), { ...last, attribute: true }] : path;
        const node = this.tree.place(this.#withoutRoot(steps), owner, row.level > 0 ? owner : near);
        if (!node) continue;
        this.#markLists(node, path);
        applyRow(node, row);
        near = node;
        open.length = Math.min(open.length, row.level + 1);
        open.push(node);
      }
    }
  }

  /** Paths that all begin with the same element name the root of the document. */
  #takeRoot(rows: readonly FieldRow[]): void {
    if (this.rootName !== "" || this.tree.root.children.size > 0 || !rows.some(({ isXmlPath }) => isXmlPath)) return;
    const names = new Set(rows.flatMap(({ paths, level }) => (level > 0 ? [] : paths.map(([first]) => first?.name))));
    const [name] = names;
    const isShared =
      rows.filter(({ paths }) => (paths[0]?.length ?? 0) > 1).length > 1 || rows[0]?.paths[0]?.length === 1;
    if (names.size === 1 && name !== undefined && isShared && rows.length > 1) this.tree.rename(name);
  }

  #isRoot(row: FieldRow): boolean {
    const [path] = row.paths;
    const name = path?.length === 1 ? path[0]?.name : undefined;
    if (name === undefined || path?.[0]?.attribute) return false;
    return (
      name === this.rootName ||
      (this.rootName === "" && this.#kind === "xml" && this.tree.root.children.size === 0 && row.said.type === "object")
    );
  }

  #nameRoot(row: FieldRow): void {
    const name = row.paths[0]?.[0]?.name ?? "";
    if (this.rootName === "") this.tree.rename(name);
    const { root } = this.tree;
    const namespace = /namespace\W{0,6}[`"']?(\S+?:[^\s`"']+)/i.exec(row.description ?? "")?.[1];
    if (namespace !== undefined) root.namespace ??= namespace;
    if (root.evidence.length === 0) root.evidence.push(row.evidence);
  }

  #withoutRoot(steps: FieldRow["paths"][number]): FieldRow["paths"][number] {
    return steps.length > 1 && steps[0]?.name === this.rootName && this.rootName !== "" ? steps.slice(1) : steps;
  }

  #markLists(node: FieldNode, path: FieldRow["paths"][number]): void {
    let at: FieldNode | undefined = node;
    for (const step of path.toReversed()) {
      if (at && step.list && keyOf(at) === keyOf(step)) at.list = true;
      at = at?.parent;
    }
  }

  /** Fields whose type is described in another table get its fields. */
  nest(tables: ReadonlyMap<string, FieldTable>, used: Set<FieldTable>): void {
    for (let round = 0; round < MAX_NESTED; round++) {
      const numbered = (node: FieldNode) =>
        node.references.map((number) => tables.get(`#${number}`)).find((table) => table !== undefined);
      const waiting = this.tree
        .nodes()
        .filter((node) => isOpenObject(node) || (numbered(node) !== undefined && !this.#nested.has(node)));
      let isChanged = false;
      for (const node of waiting) {
        const table =
          numbered(node) ??
          tables.get(looseName(node.said.reference ?? "")) ??
          (node.said.reference === undefined ? tables.get(looseName(node.name)) : undefined);
        if (!table || isInside(node, table, this.#nested)) continue;
        this.#nested.set(node, table);
        used.add(table);
        node.said.type = "object";
        this.place(table.rows, node);
        isChanged = true;
      }
      if (!isChanged) return;
    }
  }

  /** An answer may have several elements where a sample has one. */
  #assumeLists(): void {
    for (const node of this.tree.nodes()) {
      if (node.list || node.attribute || node.required !== undefined || !isWrapped(node)) continue;
      node.list = true;
      addDoubt(node, "The sample has one of these in an element with the name of several: it is a list here.");
    }
  }

  readonly #nested = new Map<FieldNode, FieldTable>();

  /** The body as a content; undefined if nothing is known about it. */
  content(side: "input" | "output", owner: string, evidence: Evidence): ContentFacts | undefined {
    if (this.isEmpty) return undefined;
    if (side === "output" && this.#kind === "xml") this.#assumeLists();
    const kind = this.#kind ?? "json";
    const form = kind === "xml" ? "xml" : kind === "json" ? "json" : "flat";
    const isDescribed = this.tree.root.children.size > 0 || this.tree.root.list || kind === "xml";
    const schema = kind === "text" || !isDescribed ? undefined : nodeSchema(this.tree.root, { form, side, owner });
    const from = this.tree.root.evidence[0] ?? this.tree.root.shown[0] ?? evidence;
    return {
      mediaType: MEDIA[kind],
      ...(schema ? { schema: schema.evidence === "" ? { ...schema, evidence: from } : schema } : {}),
      examples: this.#samples.flatMap(({ node }) => (node ? [exampleOf(node, this.tree.root, kind)] : [])).slice(0, 10),
      encoding: {},
      evidence: from,
    };
  }
}

/** `errors` with nothing but `error` in it. */
function isWrapped(node: FieldNode): boolean {
  const owner = node.parent;
  return (
    owner !== undefined &&
    owner.children.size === 1 &&
    owner.name !== node.name &&
    looseName(owner.name) === looseName(node.name)
  );
}

function isOpenObject(node: FieldNode): boolean {
  const { said, children } = node;
  return (
    children.size === 0 &&
    node.parent !== undefined &&
    (said.reference !== undefined || said.type === "object" || (node.list && said.type === undefined))
  );
}

/** A type inside of itself ends. */
function isInside(node: FieldNode, table: FieldTable, nested: ReadonlyMap<FieldNode, FieldTable>): boolean {
  for (let at: FieldNode | undefined = node; at; at = at.parent) if (nested.get(at) === table) return true;
  return false;
}

/** A sample by the names upstream; in XML by the steps of its paths, all values as text. */
function exampleOf(sample: SampleNode, node: FieldNode, kind: string): unknown {
  if (kind === "json") return plainValue(sample);
  const { children } = sample;
  if (children.length === 0 && node.children.size === 0) return sample.value ?? "";
  const value: Record<string, unknown> = {};
  if (sample.value !== undefined) value["."] = sample.value;
  for (const child of children) {
    const field = node.children.get(keyOf(child));
    if (!field) continue;
    const key = kind === "xml" ? wireKey(field) : keyOf(field);
    const inner = exampleOf(child, field, kind);
    if (!field.list || field.attribute) value[key] = inner;
    else value[key] = [...((value[key] as unknown[] | undefined) ?? []), inner];
  }
  return value;
}

function plainValue({ list, value, children }: SampleNode): unknown {
  if (list) return children.map(plainValue);
  if (value !== undefined) return value;
  return Object.fromEntries(children.map((child) => [child.name, plainValue(child)]));
}

/** A sample as a value by the places of its fields, so that it can become an example. */
function wireKey(node: FieldNode): string {
  return node.list && !node.attribute ? `${keyOf(node)}[]` : keyOf(node);
}
