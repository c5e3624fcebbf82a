import { flatName } from "../../file/model/member-names.ts";
import type { ScalarShape, Shape, ToolFile, TypeSpec } from "../../file/model/tool-file.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import { unsuitable } from "./address.ts";
import { type Fields, own } from "../record/record-source.ts";
import { Mismatch, scalarOf, type Scalar } from "../record/scalar.ts";
import { isRecord } from "../../../json/is-record.ts";

/** A value in the words of the upstream, before a style writes it: a text, a list, or members by their names. */
export type ParameterTree = string | ParameterTree[] | ParameterMembers;

interface ParameterMembers {
  members: [name: string, value: ParameterTree][];
}

/** Converts values of a file's shapes to trees and back. */
export class ParameterTrees {
  readonly #file: ToolFile;
  readonly #scalars = new Map<ScalarShape, Scalar>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  /** Undefined if there is nothing to write. */
  write(shape: Shape, value: unknown, path: string): ParameterTree | undefined {
    if (value === undefined || value === null) return undefined;
    switch (shape.kind) {
      case "scalar":
        return this.#writeScalar(shape, value, path);
      case "list":
        if (!Array.isArray(value)) throw unsuitable(path, "must be a list");
        return (value as unknown[]).map((item, index) => {
          const tree = this.write(shape.of, item, `${path}[${index}]`);
          if (tree === undefined) throw unsuitable(`${path}[${index}]`, "is missing");
          return tree;
        });
      case "map":
        return { members: this.#writeEntries(Object.entries(recordIn(value, path)), shape.of, path) };
      case "object":
        return this.#writeObject(this.#type(shape.type), value, path);
      case "union":
        return this.#writeUnion(shape.of, value, path);
      case "any":
        throw unsuitable(path, "can only be sent as JSON");
    }
  }

  /** The value of a tree; problems are added with their paths, and their values left out. */
  read(shape: Shape, tree: ParameterTree, path: string, problems: string[]): unknown {
    switch (shape.kind) {
      case "scalar":
        return this.#readScalar(shape, tree, path, problems);
      case "list":
        return this.#readList(shape, itemsIn(tree), path, problems);
      case "map": {
        if (!isMembers(tree)) return refused(problems, path, "expected members");
        const entries = tree.members.map(([name, each]) => [
          name,
          this.read(shape.of, each, `${path}.${name}`, problems),
        ]);
        return Object.fromEntries(entries);
      }
      case "object":
        return this.#readObject(shape, tree, path, problems);
      case "union":
        return this.#readUnion(shape.of, tree, path, problems);
      case "any":
        return refused(problems, path, "can only be read as JSON");
    }
  }

  #writeScalar(shape: ScalarShape, value: unknown, path: string): string | undefined {
    if (shape.type === "presence" && value === false) return undefined;
    const text = this.#scalar(shape).write(value);
    if (text instanceof Mismatch) throw unsuitable(path, text.problem);
    return text;
  }

  #writeEntries(entries: [string, unknown][], of: Shape, path: string): ParameterMembers["members"] {
    return entries.flatMap(([name, each]) => {
      const tree = this.write(of, each, `${path}.${name}`);
      return tree === undefined ? [] : [[name, tree] satisfies [string, ParameterTree]];
    });
  }

  #writeObject(type: TypeSpec, value: unknown, path: string): ParameterTree | undefined {
    if (type.union) return this.write(type.union, value, path);
    const given = recordIn(value, path);
    const members = Object.entries(type.fields).flatMap(([field, spec]) => {
      if (spec.wire === false || spec.side === "output") return [];
      const constant = spec.const;
      const tree =
        constant === undefined
          ? this.write(spec.shape, own(given, field), `${path}.${field}`)
          : this.constant(spec.shape, constant);
      return tree === undefined ? [] : [[flatName(spec.wire), tree] satisfies [string, ParameterTree]];
    });
    if (!type.additional) return { members };
    const more = Object.entries(given).filter(([name]) => !Object.hasOwn(type.fields, name));
    const upstream = new Set(Object.values(type.fields).map(({ wire }) => (wire === false ? wire : flatName(wire))));
    const clash = more.find(([name]) => upstream.has(name));
    if (clash) throw unsuitable(`${path}.${clash[0]}`, "is the name that another field has upstream");
    return { members: [...members, ...this.#writeEntries(more, type.additional, path)] };
  }

  /** The text of a constant, which may be the code itself. */
  constant(shape: Shape, value: string | number | boolean): string {
    const text = shape.kind === "scalar" ? this.#scalar(shape).write(value) : String(value);
    return text instanceof Mismatch ? String(value) : text;
  }

  #writeUnion(of: readonly Shape[], value: unknown, path: string): ParameterTree | undefined {
    for (const each of this.#singles(of)) {
      const text = this.#scalar(each).write(value);
      if (!(text instanceof Mismatch) && isExactly(each, value)) return text;
    }
    throw unsuitable(path, "fits none of its types");
  }

  #readUnion(of: readonly Shape[], tree: ParameterTree, path: string, problems: string[]): unknown {
    for (const each of this.#singles(of)) {
      const found: string[] = [];
      const value = this.#readScalar(each, tree, path, found);
      if (found.length === 0) return value;
    }
    return refused(problems, path, "fits none of its types");
  }

  #singles(of: readonly Shape[]): ScalarShape[] {
    return of.flatMap((each) => {
      if (each.kind === "scalar") return [each];
      const inner = each.kind === "union" ? each : each.kind === "object" ? this.#type(each.type).union : undefined;
      return inner ? this.#singles(inner.of) : [];
    });
  }

  #readScalar(shape: ScalarShape, tree: ParameterTree, path: string, problems: string[]): unknown {
    if (typeof tree !== "string") return refused(problems, path, "is given more than once");
    const scalar = this.#scalar(shape);
    const value = scalar.read(tree);
    if (value instanceof Mismatch) return refused(problems, path, value.problem);
    const limit = scalar.limit?.(value, new StepBudget());
    return limit === undefined ? value : refused(problems, path, limit);
  }

  #readList(
    { of, minItems = 0, maxItems = Infinity }: Extract<Shape, { kind: "list" }>,
    items: readonly ParameterTree[] | undefined,
    path: string,
    problems: string[],
  ): unknown {
    if (!items) return refused(problems, path, "expected items with the numbers 0, 1, 2 …");
    if (items.length > maxItems) return refused(problems, path, `expected at most ${maxItems} items`);
    if (items.length < minItems) return refused(problems, path, `expected at least ${minItems} items`);
    return items.map((item, index) => this.read(of, item, `${path}[${index}]`, problems));
  }

  #readObject(
    shape: Extract<Shape, { kind: "object" }>,
    tree: ParameterTree,
    path: string,
    problems: string[],
  ): unknown {
    const type = this.#type(shape.type);
    if (type.union) return this.read(type.union, tree, path, problems);
    if (!isMembers(tree)) return refused(problems, path, "expected members");
    const left = new Map(tree.members);
    const value: Fields = {};
    for (const [field, spec] of Object.entries(type.fields)) {
      if (spec.wire === false || spec.side === "output") continue;
      const name = flatName(spec.wire);
      const given = left.get(name);
      left.delete(name);
      if (spec.const !== undefined) {
        value[field] = spec.const;
        const isRight = given === this.constant(spec.shape, spec.const) || (given === undefined && spec.optional);
        if (!isRight) refused(problems, `${path}.${field}`, `expected ${JSON.stringify(spec.const)}`);
      } else if (given !== undefined) value[field] = this.read(spec.shape, given, `${path}.${field}`, problems);
      else if (!spec.optional && spec.default === undefined) refused(problems, `${path}.${field}`, "missing");
    }
    for (const [name, given] of left) {
      if (type.additional) value[name] = this.read(type.additional, given, `${path}.${name}`, problems);
      else refused(problems, `${path}.${name}`, "unknown member");
    }
    return value;
  }

  #scalar(shape: ScalarShape): Scalar {
    const known = this.#scalars.get(shape) ?? scalarOf(shape);
    this.#scalars.set(shape, known);
    return known;
  }

  #type(name: string): TypeSpec {
    return this.#file.types[name] ?? { xml: {}, fields: {}, rules: [] };
  }
}

function isMembers(tree: ParameterTree): tree is ParameterMembers {
  return typeof tree === "object" && !Array.isArray(tree);
}

/** A number does not become text because a text is also allowed, and the reverse. */
function isExactly({ type, codes }: ScalarShape, value: unknown): boolean {
  if (codes) return typeof value === "string";
  if (type === "boolean" || type === "presence") return typeof value === "boolean";
  return type === "integer" || type === "number" ? typeof value === "number" : typeof value === "string";
}

/** The items of a list: also those of members that are numbered from 0. */
function itemsIn(tree: ParameterTree): ParameterTree[] | undefined {
  if (Array.isArray(tree)) return tree;
  if (!isMembers(tree)) return [tree];
  return tree.members.every(([name], index) => name === String(index))
    ? tree.members.map(([, each]) => each)
    : undefined;
}

function recordIn(value: unknown, path: string): Fields {
  if (!isRecord(value)) throw unsuitable(path, "must be an object");
  return value;
}

function refused(problems: string[], path: string, problem: string): undefined {
  problems.push(`${path}: ${problem}`);
  return undefined;
}
