import type { RequestSpec, ToolFile, FieldSpec, ParameterStyle } from "../file/model/tool-file.ts";
import type { Codec } from "./record/codec.ts";
import { jsonCodec, jsonValue, type JsonOptions, type JsonValue } from "./json/json-codec.ts";
import { xmlCodec } from "./xml/xml-codec.ts";
import { Planner, type Side } from "./record/planner.ts";
import { MEMBERS } from "./json/member-path.ts";
import { RecordSource, own, type Fields } from "./record/record-source.ts";
import { encodePairs, decodePairs, type Pair } from "./parameter/form-text.ts";
import { Deviations } from "./record/deviations.ts";
import type { NodePlan, LeafPlan, RecordPlan, ListPlan } from "./record/record-plan.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Scalar } from "./record/scalar.ts";
import { RecordReading } from "./record/record-reading.ts";
import {
  namesBeside,
  writePairs,
  requireFreeNames,
  plainPair,
  belongsTo,
  readPairs,
  type PairReading,
} from "./parameter/pair-styles.ts";
import { ParameterTrees } from "./parameter/parameter-tree.ts";
import { flatName } from "../file/model/member-names.ts";
import { kindOfParameter } from "../shape/parameter-kind.ts";

const NONE: ReadonlySet<string> = new Set();

/** `unknown` is for JSON, `parts` for forms. */
interface CodecOptions extends JsonOptions {
  parts?: RequestSpec["parts"] | undefined;
}

/** Prepares the codec of a type; errors in its wire paths are thrown here as CONFIG_INVALID. */
export function codecFor(file: ToolFile, type: string, as: "xml" | "json" | "form", options: CodecOptions = {}): Codec {
  switch (as) {
    case "xml":
      return xmlCodec(file, type, options.side);
    case "json":
      return jsonCodec(file, type, options);
    case "form":
      return formCodec(file, type, options);
  }
}

interface FormCodecOptions {
  side?: Side;
  /** How fields that are not single values are written. */
  parts?: RequestSpec["parts"] | undefined;
}

/** Nested objects have names with dots, and lists repeat their name, unless `parts` says something else. */
function formCodec(file: ToolFile, type: string, { side, parts }: FormCodecOptions = {}): Codec {
  const styled = new StyledFields(file, type, parts ?? {});
  const plan = new Planner(styled.fileWithout, MEMBERS, side).document(type);
  requireFlat(plan.root, type);
  return {
    encode: (value) => {
      const pairs: Pair[] = [];
      addPairs(pairs, plan.root, "", new RecordSource(plan, value, undefined));
      for (const pair of styled.write(value)) pairs.push(pair);
      return encodePairs(pairs);
    },
    decode: (body) => {
      const found = new Deviations();
      const { input, rest } = styled.read(decodePairs(body), found);
      const value = decodeForm(plan, rest, found);
      return { value: { ...value, ...input }, deviations: found.all() };
    },
  };
}

function requireFlat(node: NodePlan, type: string): void {
  for (const child of node.children) {
    const isSingle = child.list === undefined || (!child.list.isRecord && child.list.plan().root.text.length > 0);
    if (child.nested || !isSingle || child.name === ".") {
      throw new NexusError(
        "CONFIG_INVALID",
        `The type ${type} cannot be sent as a form: ${child.path} is not a list of single values`,
        { hint: "Say in request.parts in which style it is written, such as deep or json." },
      );
    }
    requireFlat(child, type);
  }
}

function addPairs(pairs: Pair[], node: NodePlan, name: string, source: RecordSource): void {
  for (const leaf of [...node.text, ...node.presence]) {
    const text = textOf(leaf, source);
    if (text !== undefined) pairs.push([name, text]);
  }
  if (node.list) {
    const [leaf] = node.list.plan().root.text;
    for (const text of leaf ? source.valuesOf(node.list, leaf, writeText) : []) pairs.push([name, text]);
  }
  for (const child of node.children) addPairs(pairs, child, nameOf(name, child), source);
}

function textOf(leaf: LeafPlan, source: RecordSource): string | undefined {
  if (leaf.constant) return source.has(leaf.scope) ? leaf.constant.text : undefined;
  return source.valueOf(leaf, writeText);
}

function writeText(this: Scalar, value: unknown): ReturnType<Scalar["write"]> {
  return this.write(value);
}

function decodeForm(plan: RecordPlan, pairs: readonly Pair[], found: Deviations): Fields {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value]);
  const reading = new RecordReading(plan, found, undefined);
  visit(plan.root, "", values, reading);
  for (const [name, [first = ""]] of values) reading.tell(name, "unknown member", first);
  return reading.finish();
}

/** Removes the known names from `values`; returns whether there were any. */
function visit(node: NodePlan, name: string, values: Map<string, string[]>, reading: RecordReading): boolean {
  const given = name === "" ? [] : (values.get(name) ?? []);
  if (node.text.length + node.presence.length > 0 || node.list) values.delete(name);
  if (node.list) {
    readItems(node.list, given, reading);
  } else if (given[0] !== undefined) {
    for (const leaf of node.text) reading.take(leaf, leaf.scalar.read(given[0]), given[0]);
    for (const leaf of node.presence) reading.take(leaf, leaf.scalar.read(given[0]), given[0]);
    if (given[1] !== undefined) reading.tell(name, "is here more than once", given[1]);
  }
  let isThere = given.length > 0;
  for (const child of node.children) if (visit(child, nameOf(name, child), values, reading)) isThere = true;
  if (isThere) for (const scope of node.opens) reading.meet(scope);
  return isThere;
}

function readItems(list: ListPlan, given: readonly string[], reading: RecordReading): void {
  const plan = list.plan();
  const items = reading.items(list.slot);
  for (const [index, text] of given.entries()) {
    const inner = new RecordReading(plan, reading.found, reading.placeOf(list, index));
    for (const leaf of plan.root.text) inner.take(leaf, leaf.scalar.read(text), text);
    const item = inner.finish()[""];
    if (item !== undefined) items.push(item);
  }
}

function nameOf(before: string, { name }: NodePlan): string {
  return before === "" ? name : `${before}.${name}`;
}

interface StyledField {
  field: string;
  spec: FieldSpec;
  style: ParameterStyle;
  how: PairReading;
  /** The names of the other fields, in small letters. */
  taken: ReadonlySet<string>;
  json: JsonValue | undefined;
}

/** The fields of a form that `parts` gives a style. */
class StyledFields {
  /** The file in which these fields are not in the form. */
  readonly fileWithout: ToolFile;
  readonly #trees: ParameterTrees;
  readonly #styled: StyledField[];

  constructor(file: ToolFile, type: string, parts: NonNullable<RequestSpec["parts"]>) {
    this.#trees = new ParameterTrees(file);
    const its = file.types[type];
    this.#styled = Object.entries(its?.fields ?? {}).flatMap(([field, spec]) => {
      const style = parts[field]?.style;
      if (style === undefined || spec.wire === false || spec.side === "output") return [];
      const taken = namesBeside(its?.fields ?? {}, field);
      return [{ ...styledField(file, { field, spec, style, name: flatName(spec.wire) }), taken }];
    });
    this.fileWithout = file;
    if (!its || this.#styled.length === 0) return;
    const fields = { ...its.fields };
    for (const { field, spec } of this.#styled) fields[field] = { ...spec, wire: false };
    this.fileWithout = { ...file, types: { ...file.types, [type]: { ...its, fields } } };
  }

  write(value: Fields): Pair[] {
    return this.#styled.flatMap(({ field, spec, style, how, taken, json }): Pair[] => {
      const given = own(value, field) ?? spec.const;
      if (given === undefined || given === null) return [];
      if (json) return [[how.name, json.encode(given, field)]];
      const tree = this.#trees.write(spec.shape, given, field);
      if (tree === undefined) return [];
      const pairs = writePairs(how.name, style, tree, field);
      return requireFreeNames(pairs, { name: how.name, field, taken: style === "deep" ? NONE : taken }).map(plainPair);
    });
  }

  /** `rest`: the pairs of other fields. */
  read(pairs: readonly Pair[], found: Deviations): { input: Fields; rest: Pair[] } {
    const input: Fields = {};
    let rest = [...pairs];
    for (const { field, spec, how, json } of this.#styled) {
      const own = rest.filter(([name]) => belongsTo(how, name));
      rest = rest.filter((pair) => !own.includes(pair));
      const problems: string[] = [];
      const [first] = own;
      if (first === undefined) {
        if (spec.shape.kind === "list") input[field] = [];
        else if (!spec.optional) found.add(field, "missing");
      } else if (json) {
        const { value, deviations } = json.decode(first[1], field);
        for (const { path, problem } of deviations) found.add(path, problem);
        if (value !== undefined) input[field] = value;
      } else {
        const tree = readPairs(how, own);
        const value = tree === undefined ? undefined : this.#trees.read(spec.shape, tree, field, problems);
        if (value !== undefined) input[field] = value;
      }
      for (const problem of problems) found.add(field, problem);
    }
    return { input, rest };
  }
}

function styledField(
  file: ToolFile,
  { field, spec, style, name }: { field: string; spec: FieldSpec; style: ParameterStyle; name: string },
): Omit<StyledField, "taken"> {
  const { shape } = spec;
  const type = shape.kind === "object" ? file.types[shape.type] : undefined;
  const members = new Set(
    Object.values(type?.fields ?? {}).map(({ wire }) => (wire === false ? wire : flatName(wire))),
  );
  const kind = style === "json" ? "single" : (kindOfParameter(file, shape) ?? "single");
  const how: PairReading = { name, style, kind, isMember: (given) => members.has(given) };
  return { field, spec, style, how, json: style === "json" ? jsonValue(file, shape) : undefined };
}
