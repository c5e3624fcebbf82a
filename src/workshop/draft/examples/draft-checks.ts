import { isRecord } from "../../../json/is-record.ts";
import type { OperationFacts, ParameterFacts, SchemaFacts } from "../../documents/api-facts.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import type { DraftedInput } from "../tool/draft-input.ts";
import type { DraftedResponse } from "../tool/draft-response.ts";
import { allFields, type DraftType } from "../types/draft-type.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { fittingValue, UNFIT, type FittingPlace } from "./fitting-value.ts";

const MAX_LENGTH = 3_000;
const MOST_EXPECTED = 3;

type Types = ReadonlyMap<string, DraftType>;

/** The documented arguments of a tool; undefined if a required one has no usable example. */
export function exampleArguments({ body }: OperationFacts, input: DraftedInput, types: Types): YamlMap | undefined {
  const place: FittingPlace = { types, side: "input" };
  const given: YamlMap = {};
  for (const [name, field] of input.parameters.fields) {
    const source = input.parameters.sources.get(name);
    const value = firstFitting(parameterExamples(source), field, { ...place, name: source?.name ?? name });
    if (value !== UNFIT && !isDivided(value)) given[name] = value;
    else if (isRequired(field)) return undefined;
  }
  if (input.body) {
    const isText = input.body.choice.kind === "xml" || input.body.choice.kind === "form";
    const members = bodyExample(input.body.choice.content, input.body.fields, { ...place, isText });
    if (members) Object.assign(given, members);
    else if (body?.required || [...input.body.fields.values()].some(isRequired)) return undefined;
  }
  return JSON.stringify(given).length <= MAX_LENGTH ? given : undefined;
}

function isRequired({ optional, default: usual, const: only }: FieldSpec): boolean {
  return !optional && usual === undefined && only === undefined;
}

/** A list in one text cannot have the sign that separates its items in one of them. */
function isDivided(value: unknown): boolean {
  const items: unknown[] = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  return items.some((item) => typeof item === "string" && /[,|\s]/.test(item));
}

function parameterExamples(parameter: ParameterFacts | undefined): unknown[] {
  return parameter ? [...parameter.examples, ...schemaExamples(parameter.schema)] : [];
}

function schemaExamples(schema: SchemaFacts | undefined): unknown[] {
  if (!schema) return [];
  const { examples, default: usual, enum: values = [], const: only } = schema;
  return [...examples, usual, only, ...values.slice(0, 1)].filter((value) => value !== undefined);
}

function firstFitting(examples: readonly unknown[], field: FieldSpec, place: FittingPlace): unknown {
  for (const example of examples) {
    const value = fittingValue(example, field.shape, place);
    if (value !== UNFIT) return value;
  }
  return UNFIT;
}

function bodyExample(
  { examples, schema }: { examples: readonly unknown[]; schema?: SchemaFacts },
  fields: ReadonlyMap<string, FieldSpec>,
  place: FittingPlace,
): YamlMap | undefined {
  const type: DraftType = { name: "", evidence: [], xml: {}, include: [], fields: new Map(fields) };
  const types = new Map([...place.types, ["", type]]);
  const wholes = [...examples, ...(schema?.examples ?? []), membersOf(schema)];
  for (const whole of wholes) {
    const value = fittingValue(whole, { kind: "object", type: "" }, { ...place, types });
    if (value !== UNFIT && isRecord(value) && Object.keys(value).length > 0) return value;
  }
  const [only] = fields;
  if (only?.[1].wire !== ".") return undefined;
  const value = firstFitting(wholes, only[1], place);
  return value === UNFIT ? undefined : { [only[0]]: value };
}

/** An example made of those of the members. */
function membersOf(schema: SchemaFacts | undefined): YamlMap | undefined {
  if (!schema || schema.properties.size === 0) return undefined;
  const members = [...schema.properties].slice(0, 30).flatMap(([name, read]) => {
    const [first] = schemaExamples(read());
    return first === undefined ? [] : [[name, first] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The documented answer as the fake gives it; undefined if it does not fit or is large. */
export function exampleAnswer({ type, content }: DraftedResponse, types: Types): YamlMap | undefined {
  if (!type || !content) return undefined;
  for (const example of [...content.examples, ...(content.schema?.examples ?? [])]) {
    const isText = type.xml.element !== undefined;
    const value = answerFrom(example, type, { types, side: "output", isText });
    if (value && JSON.stringify(value).length <= MAX_LENGTH && !isComputed(value)) return value;
  }
  return undefined;
}

function answerFrom(example: unknown, type: DraftType, place: FittingPlace): YamlMap | undefined {
  const [whole] = [...allFields(type)].filter(([, { wire }]) => wire === ".");
  if (whole) {
    const value = fittingValue(example, whole[1].shape, place);
    return value === UNFIT ? undefined : { [whole[0]]: value };
  }
  const value = fittingValue(example, { kind: "object", type: type.name }, place);
  return value !== UNFIT && isRecord(value) && Object.keys(value).length > 0 ? value : undefined;
}

/** In answers of the fake, text that begins with `=` is computed, and a map with `each` and `give` is repeated. */
function isComputed(value: unknown): boolean {
  if (typeof value === "string") return value.startsWith("=");
  if (Array.isArray(value)) return value.some(isComputed);
  if (!isRecord(value)) return false;
  return (Object.hasOwn(value, "each") && Object.hasOwn(value, "give")) || Object.values(value).some(isComputed);
}

/** What a check expects of an example answer: its first single values. */
export function expectedOf(answer: YamlMap): YamlMap | undefined {
  const simple = Object.entries(answer).filter(([, value]) => isSimple(value));
  if (simple.length > 0) return Object.fromEntries(simple.slice(0, MOST_EXPECTED));
  return undefined;
}

function isSimple(value: unknown): boolean {
  return (
    (typeof value === "string" && value.length <= 100 && value.trim() === value) ||
    typeof value === "boolean" ||
    Number.isSafeInteger(value)
  );
}
