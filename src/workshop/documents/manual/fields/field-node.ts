import type { DoubtChoice, Evidence, ValueLimits } from "../../api-facts.ts";
import type { TypeSaid } from "./type-words.ts";

export type SampleScalar = string | number | boolean | null;

/** A code of a field, its name and where it is written. */
export interface FieldCode {
  value: string;
  meaning: string;
  evidence: Evidence;
}

/** What is not certain about a field, with the answers that are known beforehand. */
export interface FieldDoubt {
  text: string;
  choices?: DoubtChoice[];
}

/** One element, attribute, member or parameter of a message, with everything that the manual says about it. */
export interface FieldNode {
  /** As it is sent. */
  name: string;
  attribute: boolean;
  parent?: FieldNode;
  children: Map<string, FieldNode>;
  said: TypeSaid;
  limits: ValueLimits;
  list: boolean;
  required?: boolean;
  description?: string;
  constant?: string;
  default?: string;
  values?: string[];
  codes: FieldCode[];
  /** Numbers or titles of sections in which the values are listed. */
  references: string[];
  /** Where tables and texts describe it, the best first. */
  evidence: Evidence[];
  /** A row of a table or an item of a list is about it. */
  isDescribed?: boolean;
  /** Where samples have it. */
  shown: Evidence[];
  samples: SampleScalar[];
  examples: string[];
  doubts: FieldDoubt[];
  deprecated: boolean;
  rules: { that: string; say: string; evidence: Evidence }[];
  /** In how many samples of its parent it is, and how many samples there are of its own content. */
  presentIn: number;
  contents: number;
  namespace?: string;
  /** A credential of a body. */
  secret?: { name: string; isPublic: boolean };
  /** Set if samples show an array of arrays or the like, which cannot be described. */
  mixed?: boolean;
}

function newNode(name: string, attribute = false, parent?: FieldNode): FieldNode {
  return {
    name,
    attribute,
    ...(parent ? { parent } : {}),
    children: new Map(),
    said: {},
    limits: {},
    list: false,
    codes: [],
    references: [],
    evidence: [],
    shown: [],
    samples: [],
    examples: [],
    doubts: [],
    deprecated: false,
    rules: [],
    presentIn: 0,
    contents: 0,
  };
}

/** One step of a path: `member[]` or `@hotel_id`. */
export interface Step {
  name: string;
  attribute: boolean;
  list: boolean;
}

export function keyOf({ name, attribute }: { name: string; attribute: boolean }): string {
  return attribute ? `@${name}` : name;
}

const MAX_NODES = 20_000;

/** The fields of a message, as a tree from its root. */
export class FieldTree {
  readonly root = newNode("");
  readonly #byKey = new Map([["", [this.root]]]);
  #size = 1;

  nodes(): FieldNode[] {
    return [...this.#byKey.values()].flat();
  }

  named(key: string): readonly FieldNode[] {
    return this.#byKey.get(key) ?? [];
  }

  rename(name: string): void {
    this.#byKey.set(
      this.root.name,
      this.named(this.root.name).filter((node) => node !== this.root),
    );
    this.root.name = name;
    this.#byKey.set(name, [this.root, ...this.named(name)]);
  }

  /** The child of a node; it is made if it is not there. Undefined if the tree is too large. */
  child(parent: FieldNode, step: { name: string; attribute: boolean }): FieldNode | undefined {
    const key = keyOf(step);
    const known = parent.children.get(key);
    if (known) return known;
    if (this.#size >= MAX_NODES) return undefined;
    this.#size++;
    const node = newNode(step.name, step.attribute, parent);
    parent.children.set(key, node);
    const same = this.#byKey.get(key);
    if (same) same.push(node);
    else this.#byKey.set(key, [node]);
    return node;
  }

  /** The node at the end of a path that may leave out its beginning. Of several the one nearest to `near`. */
  find(steps: readonly Step[], near: FieldNode): FieldNode | undefined {
    const last = steps.at(-1);
    if (!last) return undefined;
    const found = this.named(keyOf(last)).filter((node) => endsWith(node, steps));
    return found.length < 2 ? found[0] : nearest(found, near);
  }

  /** The node of a path of a table: what is missing of it is made, below `base` if nothing of it is known. */
  place(steps: readonly Step[], base: FieldNode, near: FieldNode): FieldNode | undefined {
    const known = base.children.get(steps[0] ? keyOf(steps[0]) : "") && this.#below(base, steps);
    if (known) return known;
    const found = this.find(steps, near);
    // Of an object that is described apart, members are not those of another one.
    const whole = found && (base === this.root || pathOf(found).includes(base)) ? found : undefined;
    if (whole && (whole !== this.root || steps.length > 1 || this.root.name !== "")) return whole;
    for (let length = steps.length - 1; length > 0; length--) {
      const owner = this.find(steps.slice(0, length), near);
      if (owner && !owner.attribute) return this.#make(owner, steps.slice(length));
    }
    return this.#make(base, steps);
  }

  #below(base: FieldNode, steps: readonly Step[]): FieldNode | undefined {
    let node: FieldNode | undefined = base;
    for (const step of steps) node = node?.children.get(keyOf(step));
    return node;
  }

  #make(owner: FieldNode, steps: readonly Step[]): FieldNode | undefined {
    let node: FieldNode | undefined = owner;
    for (const step of steps) node = node && this.child(node, step);
    return node;
  }
}

function endsWith(node: FieldNode, steps: readonly Step[]): boolean {
  let at: FieldNode | undefined = node;
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index];
    if (!at || !step || at.name !== step.name || at.attribute !== step.attribute) return false;
    at = at.parent;
  }
  return true;
}

/** The one that shares most of its path with `near`; of equal ones that nearest to the root. */
function nearest(found: readonly FieldNode[], near: FieldNode): FieldNode | undefined {
  const around = pathOf(near);
  const score = (node: FieldNode) => {
    const path = pathOf(node);
    let shared = 0;
    while (shared < path.length && path[shared] === around[shared]) shared++;
    return shared * 100 - path.length;
  };
  return found.toSorted((a, b) => score(b) - score(a))[0];
}

/** From the root to the node. */
export function pathOf(node: FieldNode): FieldNode[] {
  const path: FieldNode[] = [];
  for (let at: FieldNode | undefined = node; at; at = at.parent) path.unshift(at);
  return path;
}
