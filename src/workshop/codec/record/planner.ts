import { NexusError } from "../../../errors/nexus-error.ts";
import type {
  FieldSpec,
  ListShape,
  ObjectShape,
  ScalarShape,
  Shape,
  ToolFile,
  TypeSpec,
} from "../../file/model/tool-file.ts";
import { takesNull } from "../../shape/shape-parts.ts";
import { Mismatch, scalarOf, type Scalar } from "./scalar.ts";
import type { WireStep } from "./wire-path.ts";
import type { FieldPlace, FieldPlan, LeafPlan, NodePlan, RecordPlan, ScopePlan, ValueCodec } from "./record-plan.ts";
import { XML_NAMESPACE, XSI_NAMESPACE } from "./xml-tree.ts";

/** The place of a field: its record and the object in it. */
interface Spot {
  record: RecordPlan;
  scope: number;
  namespace: string;
  /** Types that are being flattened; a repeated one gets its own plan. */
  inside: readonly string[];
}

/** Fields of one plan; types of further ones get plans of their own. */
const MAX_SLOTS = 2_000;

type Owned = Pick<FieldSpec, "shape" | "optional" | "const" | "nullable">;

/** The difference between XML and the other formats: the syntax of wire paths, and namespaces. */
export interface Notation {
  steps(wire: string, shape: FieldSpec["shape"]): WireStep[];
  hasNamespaces: boolean;
  /** How values are written that are not single values, objects or lists of these; undefined: they are not. */
  value?: (shape: Shape, planner: Planner) => ValueCodec;
}

/** Requests are inputs, answers are outputs; undefined: the fields of both. */
export type Side = "input" | "output" | undefined;

/** Plans how types of a file are written. Plans of recursive items are made on first use. */
export class Planner {
  readonly #file: ToolFile;
  readonly #notation: Notation;
  readonly #plans = new Map<string, RecordPlan>();
  readonly side: Side;

  constructor(file: ToolFile, notation: Notation, side?: Side) {
    this.#file = file;
    this.#notation = notation;
    this.side = side;
  }

  get types(): ToolFile["types"] {
    return this.#file.types;
  }

  /** A type as a complete document. */
  document(name: string): RecordPlan {
    const namespace = this.#namespaceOf(name) ?? "";
    const element = newElement(this.#type(name).xml.element ?? "", namespace);
    return this.#planOf({ type: name, element, namespace });
  }

  /** How a value of any shape is written (JSON). */
  value(shape: Shape): ValueCodec {
    const make = this.#notation.value;
    if (!make) throw wrong(`${SHAPES[shape.kind]} can only be written as JSON`);
    return make(shape, this);
  }

  /** A type as the value of a member. */
  record(type: string): RecordPlan {
    return this.#planOf({ type, element: newElement("", ""), namespace: "" });
  }

  #planOf({ type, element, namespace }: { type: string; element: NodePlan; namespace: string }): RecordPlan {
    const key = JSON.stringify([type, element.name, element.namespace, element.fixed, namespace]);
    return this.#remembered(key, () => {
      const { additional, fields, union } = this.#type(type);
      if (union) throw wrong(`${type} is a union, which can only be written as JSON`);
      const record = newRecord(element, Object.keys(fields));
      const fill = () => {
        this.#addType(element, type, { record, scope: 0, namespace, inside: [type] });
        if (additional) record.additional = this.value(additional);
      };
      return { record, fill };
    });
  }

  /** Stored before it is filled, so that a recursive type finds itself. */
  #remembered(key: string, make: () => { record: RecordPlan; fill: () => void }): RecordPlan {
    const known = this.#plans.get(key);
    if (known) return known;
    const { record, fill } = make();
    this.#plans.set(key, record);
    try {
      fill();
    } catch (error) {
      // Other plans may contain this one, which is not complete: the next tool with this type has to fail in the same way.
      this.#plans.clear();
      throw error;
    }
    return record;
  }

  #addType(element: NodePlan, name: string, spot: Spot): void {
    for (const [field, spec] of Object.entries(this.#type(name).fields)) {
      if (field === "__proto__") throw invalid(name, field, "this name cannot be used");
      try {
        this.#addField(element, field, spec, spot);
      } catch (error) {
        if (error instanceof NexusError && error.details.raw !== "named") throw invalid(name, field, error.message);
        throw error;
      }
    }
  }

  #addField(element: NodePlan, field: string, spec: FieldSpec, spot: Spot): void {
    if (spec.wire === false) {
      if (spec.const !== undefined) addSlot(field, spec, spot, false);
      return;
    }
    if (spec.side !== undefined && this.side !== undefined && spec.side !== this.side) {
      return this.#ignore(element, spec.wire, spot);
    }
    if (this.#isValue(spec)) return this.#addValue(element, field, spec, spec.wire, spot);
    this.#addAt(element, field, spec, this.#notation.steps(spec.wire, spec.shape), spot);
  }

  /** A member of an answer that only requests have is not an unknown one. In a request it would be. */
  #ignore(element: NodePlan, wire: string, spot: Spot): void {
    if (this.side === "input" || wire === "." || wire.includes("@")) return;
    let at = element;
    for (const step of this.#notation.steps(wire, ANY)) at = this.#child(at, step, spot.namespace);
    at.isIgnored = true;
  }

  /** Whether a field is not a part of its record: it has a codec of its own. */
  #isValue({ shape, nullable, const: constant }: Owned): boolean {
    if (constant !== undefined) return false;
    return nullable === true ? this.#notation.value !== undefined : this.#isForeign(shape);
  }

  #isForeign(shape: Shape): boolean {
    switch (shape.kind) {
      case "scalar":
        return false;
      case "object":
        return this.#type(shape.type).union !== undefined;
      case "list":
        return shape.of.kind === "list" || this.#isForeign(shape.of);
      case "map":
      case "union":
      case "any":
        return true;
    }
  }

  #addValue(start: NodePlan, field: string, spec: FieldSpec, wire: string, spot: Spot): void {
    const codec = this.value(spec.shape);
    let element = start;
    for (const step of this.#notation.steps(wire, ANY)) {
      if (step.repeats) throw wrong("[] is for lists of single values and of objects");
      if (!step.text) element = this.#child(element, step, spot.namespace);
    }
    const isNullable = spec.nullable === true || takesNull(this.#file, spec.shape);
    element.value = { ...addSlot(field, spec, spot, true), codec, isNullable };
  }

  #addAt(start: NodePlan, field: string, owned: Owned, steps: readonly WireStep[], spot: Spot): void {
    let element = start;
    for (const [index, step] of steps.entries()) {
      if (step.repeats) return this.#addList(element, field, owned, { step, rest: steps.slice(index + 1) }, spot);
      if (owned.shape.kind === "list" && index === steps.length - 1)
        throw wrong("a list needs [] after the element that repeats");
      if (step.attribute) return this.#addAttribute(element, field, owned, step, spot);
      if (!step.text) element = this.#child(element, step, spot.namespace);
    }
    const place = addSlot(field, owned, spot, true);
    if (owned.nullable === true && this.#notation.hasNamespaces && element !== start) element.nil = place;
    if (owned.shape.kind === "scalar") {
      const leaf = leafOf(owned, owned.shape, place);
      (leaf.type === "presence" ? element.presence : element.text).push(leaf);
    } else if (owned.shape.kind === "object") {
      this.#addObject(element, owned.shape, { place, optional: owned.optional, implied: element === start }, spot);
    }
  }

  #addAttribute(element: NodePlan, field: string, owned: Owned, step: WireStep, spot: Spot): void {
    if (owned.shape.kind !== "scalar") throw wrong("an attribute holds a single value");
    const namespace = step.prefix === undefined ? "" : this.#namespace(step.prefix);
    const leaf = leafOf(owned, owned.shape, addSlot(field, owned, spot, true));
    const known = element.attributes.find((each) => each.name === step.name && each.namespace === namespace);
    if (known) known.leaves.push(leaf);
    else element.attributes.push({ name: step.name, namespace, leaves: [leaf] });
  }

  #addObject(
    element: NodePlan,
    { type }: ObjectShape,
    { place, optional, implied }: { place: FieldPlace; optional: boolean; implied: boolean },
    spot: Spot,
  ): void {
    const namespace = this.#namespaceOf(type) ?? spot.namespace;
    const isRecursive = spot.inside.includes(type);
    // Types that contain each other several times would double the plan with each level.
    const isLarge = spot.record.slots > MAX_SLOTS && !implied && isFree(element);
    if (isRecursive || isLarge || this.#type(type).additional) {
      if (implied && isRecursive) throw wrong(`${type} holds itself in the same element`);
      const { name, namespace: its, fixed } = element;
      const plan = once(() => this.#planOf({ type, element: { ...newElement(name, its), fixed }, namespace }));
      element.nested = { ...place, plan };
      return;
    }
    const { field, slot, path } = place;
    const scope = spot.record.scopes.push({ parent: spot.scope, field, slot, path, implied, optional, fields: [] }) - 1;
    if (!implied) element.opens.push(scope);
    this.#addType(element, type, { record: spot.record, scope, namespace, inside: [...spot.inside, type] });
  }

  #addList(parent: NodePlan, field: string, owned: Owned, way: { step: WireStep; rest: WireStep[] }, spot: Spot): void {
    const { shape } = owned;
    if (shape.kind !== "list") throw wrong("[] is for lists");
    const element = this.#child(parent, way.step, spot.namespace);
    if (element.list) throw wrong(`"${element.list.field}" has the same elements; give both a list of a type`);
    const isRecord = shape.of.kind === "object" && way.rest.length === 0;
    element.list = {
      ...addSlot(field, owned, spot, true),
      keepEmpty: shape.keepEmpty,
      isRecord,
      plan: once(() => this.#item(element, shape, way.rest, spot.namespace)),
    };
    // Errors are reported when the file is opened, not when the first item arrives. Recursive types end here.
    if (shape.of.kind !== "object" || !spot.inside.includes(shape.of.type)) element.list.plan();
  }

  #item(element: NodePlan, { of }: ListShape, rest: readonly WireStep[], namespace: string): RecordPlan {
    const root = { ...newElement(element.name, element.namespace), fixed: element.fixed };
    if (of.kind === "object" && rest.length === 0) {
      return this.#planOf({ type: of.type, element: root, namespace: this.#namespaceOf(of.type) ?? namespace });
    }
    const record = newRecord(root, []);
    const spot = { record, scope: 0, namespace, inside: [] };
    this.#addAt(root, "", { shape: of, optional: false }, rest, spot);
    return record;
  }

  #child(parent: NodePlan, step: WireStep, inherited: string): NodePlan {
    const namespace = step.prefix === undefined ? inherited : this.#namespace(step.prefix);
    const fixed = step.predicates.map(({ attribute, prefix, value }) => ({
      name: attribute,
      namespace: prefix === undefined ? "" : this.#namespace(prefix),
      value,
    }));
    const only = parent.nested ?? parent.value;
    if (only) throw wrong(`<${parent.name}> belongs to "${only.field}" alone`);
    const siblings = parent.byName.get(step.name) ?? [];
    const isSame = (plan: NodePlan) =>
      plan.namespace === namespace && JSON.stringify(plan.fixed) === JSON.stringify(fixed);
    const known = siblings.find(isSame);
    if (known) {
      if ((known.list !== undefined) !== step.repeats)
        throw wrong(`<${step.name}> repeats in one path and not in another`);
      return known;
    }
    const path = parent.path === "" ? step.name : `${parent.path}/${step.name}`;
    const element = { ...newElement(step.name, namespace), path, fixed, index: parent.children.length };
    for (const each of [...siblings, element]) each.isOnlyOfName = siblings.length === 0 && fixed.length === 0;
    parent.children.push(element);
    parent.byName.set(
      step.name,
      [...siblings, element].sort((a, b) => b.fixed.length - a.fixed.length),
    );
    return element;
  }

  #namespaceOf(type: string): string | undefined {
    return this.#notation.hasNamespaces ? this.#type(type).xml.namespace : undefined;
  }

  #namespace(prefix: string): string {
    const known = Object.hasOwn(this.#file.namespaces, prefix) ? this.#file.namespaces[prefix] : undefined;
    const namespace = known ?? { xml: XML_NAMESPACE, xsi: XSI_NAMESPACE }[prefix];
    if (namespace === undefined) throw wrong(`the prefix "${prefix}" is not in namespaces`);
    return namespace;
  }

  #type(name: string): TypeSpec {
    const type = Object.hasOwn(this.#file.types, name) ? this.#file.types[name] : undefined;
    if (!type) throw new NexusError("CONFIG_INVALID", `There is no type "${name}"`);
    return type;
  }
}

function newElement(name: string, namespace: string): NodePlan {
  return {
    name,
    namespace,
    path: "",
    index: 0,
    isOnlyOfName: true,
    fixed: [],
    attributes: [],
    text: [],
    presence: [],
    children: [],
    byName: new Map(),
    opens: [],
    list: undefined,
    nested: undefined,
    value: undefined,
    nil: undefined,
    isIgnored: false,
  };
}

/** Whether no other field uses it yet. */
function isFree({ children, attributes, text, presence, opens }: NodePlan): boolean {
  return [children, attributes, text, presence, opens].every((uses) => uses.length === 0);
}

/** For the steps of a path to a value of any kind. */
const ANY: Shape = { kind: "any" };
const SHAPES: Record<Shape["kind"], string> = {
  scalar: "null",
  object: "a union",
  list: "a list of lists, maps or unions",
  map: "a map",
  union: "a union",
  any: "any value",
};

function newRecord(root: NodePlan, names: readonly string[]): RecordPlan {
  const whole: ScopePlan = { parent: 0, field: "", slot: -1, path: "", implied: false, optional: false, fields: [] };
  return { root, scopes: [whole], slots: 0, names: new Set(names), additional: undefined };
}

function addSlot(name: string, { shape, optional, const: constant }: Owned, spot: Spot, isOnWire: boolean): FieldPlace {
  const { record, scope } = spot;
  const slot = record.slots++;
  const list = shape.kind === "list" ? shape : undefined;
  const holder = record.scopes[scope];
  holder?.fields.push({
    name,
    slot,
    kind: kindOf(shape),
    optional,
    constant,
    isOnWire,
    minItems: list?.minItems,
    maxItems: list?.maxItems,
  });
  const path = [holder?.path ?? "", name].filter((part) => part !== "").join(".");
  return { scope, field: name, slot, path };
}

function kindOf(shape: Shape): FieldPlan["kind"] {
  if (shape.kind === "scalar") return shape.type === "presence" ? "presence" : "scalar";
  return shape.kind === "object" || shape.kind === "list" ? shape.kind : "value";
}

function leafOf({ const: value, optional }: Owned, shape: ScalarShape, place: FieldPlace): LeafPlan {
  const scalar = scalarOf(shape);
  const constant = value === undefined ? undefined : constantOf(scalar, value);
  return { ...place, scalar, type: shape.type, optional, constant };
}

/** A constant is the name of a code, or the code itself. */
function constantOf(scalar: Scalar, value: string | number | boolean): LeafPlan["constant"] {
  const text = scalar.write(value);
  const json = scalar.writeJson(value);
  return {
    value,
    text: text instanceof Mismatch ? String(value) : text,
    json: json instanceof Mismatch ? value : json,
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function wrong(problem: string): NexusError {
  return new NexusError("CONFIG_INVALID", problem);
}

function invalid(type: string, field: string, problem: string): NexusError {
  return new NexusError("CONFIG_INVALID", `types.${type}.fields.${field}: ${problem}`, { raw: "named" });
}
