import type { FieldSpec, ParameterStyle, RequestSpec, ToolFile } from "../../file/model/tool-file.ts";
import { jsonValue, type JsonValue } from "../json/json-codec.ts";
import { flatName } from "../../file/model/member-names.ts";
import {
  belongsTo,
  namesBeside,
  plainPair,
  type PairReading,
  readPairs,
  requireFreeNames,
  writePairs,
} from "../parameter/pair-styles.ts";
import { ParameterTrees } from "../parameter/parameter-tree.ts";
import { kindOfParameter } from "../../shape/parameter-kind.ts";
import type { Deviations } from "../record/deviations.ts";
import { type Fields, own } from "../record/record-source.ts";
import type { Pair } from "../parameter/form-text.ts";

interface StyledField {
  field: string;
  spec: FieldSpec;
  style: ParameterStyle;
  how: PairReading;
  /** The names of the other fields, in small letters. */
  taken: ReadonlySet<string>;
  json: JsonValue | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** The fields of a form that `parts` gives a style. */
export class StyledFields {
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
