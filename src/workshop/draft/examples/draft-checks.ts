import { isRecord } from "../../../json/is-record.ts";
import type { ContentFacts, OperationFacts, ParameterFacts, SchemaFacts } from "../../documents/api-facts.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import type { DraftedInput } from "../tool/draft-input.ts";
import type { DraftedResponse } from "../tool/draft-response.ts";
import { allFields, type DraftType } from "../types/draft-type.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { fittingValue, UNFIT, type FittingPlace } from "./fitting-value.ts";
import { flattenSchema, identityOf } from "../types/flatten-schema.ts";

const MAX_LENGTH = 3_000;
const MOST_EXPECTED = 3;
/** Examples that are made of those of members become shorter with fewer objects inside of each other. */
const LEVELS = [5, 3, 2, 1];

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
    const { choice, fields } = input.body;
    const members = bodyExample(choice.content, bodyType(input.type, fields), { ...place, isText });
    if (members) Object.assign(given, members);
    else if (body?.required || [...input.body.fields.values()].some(isRequired)) return undefined;
  }
  return isShort(given) ? given : undefined;
}

/** The members of a body as a type of its own. */
function bodyType({ rules }: DraftType, fields: ReadonlyMap<string, FieldSpec>): DraftType {
  const type: DraftType = { name: "", evidence: [], xml: {}, include: [], fields: new Map(fields) };
  return rules ? { ...type, rules } : type;
}

function isShort(value: YamlMap): boolean {
  return JSON.stringify(value).length <= MAX_LENGTH;
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
  if (!parameter) return [];
  const { examples, schema } = parameter;
  return [...examples, ...schemaExamples(schema), composedExample(schema, { side: "input", levels: 1 })];
}

function firstFitting(examples: readonly unknown[], field: FieldSpec, place: FittingPlace): unknown {
  for (const example of examples) {
    const value = fittingValue(example, field.shape, place);
    if (value !== UNFIT) return value;
  }
  return UNFIT;
}

function bodyExample(content: Content, type: DraftType, place: FittingPlace): YamlMap | undefined {
  // Not a copy: an API has thousands of types, and this is asked for each tool.
  const types: FittingPlace["types"] = { get: (name) => (name === type.name ? type : place.types.get(name)) };
  const [only] = type.fields;
  for (const { value: whole, isPartial } of wholeExamples(content, place.side)) {
    const value = fittingValue(whole, { kind: "object", type: type.name }, { ...place, types, isPartial });
    if (value !== UNFIT && isRecord(value) && Object.keys(value).length > 0 && isShort(value)) return value;
    const single = only?.[1].wire === "." ? fittingValue(whole, only[1].shape, { ...place, isPartial }) : UNFIT;
    if (only && single !== UNFIT) return { [only[0]]: single };
  }
  return undefined;
}

type Content = Pick<ContentFacts, "examples" | "schema">;

/** The examples of a whole body, then those that are made of the examples of its members. */
function* wholeExamples(
  { examples, schema }: Content,
  side: FittingPlace["side"],
): Generator<{ value: unknown; isPartial: boolean }> {
  for (const value of [...examples, ...(schema?.examples ?? [])]) yield { value, isPartial: false };
  for (const levels of LEVELS) yield { value: composedExample(schema, { side, levels }), isPartial: true };
}

/** The documented answer as the fake gives it; undefined if it does not fit or is large. */
export function exampleAnswer({ type, content }: DraftedResponse, types: Types): YamlMap | undefined {
  if (!type || !content) return undefined;
  const isText = type.xml.element !== undefined;
  for (const { value: example, isPartial } of wholeExamples(content, "output")) {
    const value = answerFrom(example, type, { types, side: "output", isText, isPartial });
    if (value && isShort(value) && !isComputed(value)) return value;
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

const MAX_MEMBERS = 200;

/** How an example is made of the examples of parts. */
interface Composing {
  side: "input" | "output";
  /** How many objects are inside of each other at most. */
  levels: number;
}

/** The values that a schema shows: examples first, then its default and what else is possible. */
function schemaExamples({ examples, default: usual, enum: values = [], const: only }: SchemaFacts): unknown[] {
  return [...examples, usual, only, ...values.slice(0, 1)].filter((value) => value !== undefined);
}

/**
 * A value made of the examples of a schema's members. Undefined if there is none; of an answer also if no member has an
 * example or a default, because better ones are made up when it is asked for.
 */
function composedExample(schema: SchemaFacts | undefined, composing: Composing): unknown {
  if (!schema) return undefined;
  const composer = new Composer(composing.side);
  const value = composer.value(schema, composing.levels, []);
  return composing.side === "input" || composer.isDocumented ? value : undefined;
}

class Composer {
  /** Whether an example or a default is in it, and not only values that a type allows. */
  isDocumented = false;
  readonly #side: Composing["side"];
  #left = MAX_MEMBERS;

  constructor(side: Composing["side"]) {
    this.#side = side;
  }

  value(schema: SchemaFacts, levels: number, open: readonly string[]): unknown {
    if (open.includes(identityOf(schema)) || this.#left-- <= 0) return undefined;
    const { facts } = flattenSchema(schema);
    const shown = schemaExamples(facts).find((value) => isOfType(value, facts.types));
    if (shown !== undefined) {
      if (facts.examples.includes(shown) || shown === facts.default) this.isDocumented = true;
      return shown;
    }
    const within = [...open, identityOf(schema)];
    if (facts.properties.size > 0) return levels > 0 ? this.#members(facts, levels - 1, within) : undefined;
    if (facts.items) {
      const item = this.value(facts.items(), levels, within);
      return item === undefined ? undefined : [item];
    }
    for (const read of [...facts.oneOf, ...facts.anyOf]) {
      const value = this.value(read(), levels, within);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #members({ properties }: SchemaFacts, levels: number, open: readonly string[]): YamlMap | undefined {
    const members: [string, unknown][] = [];
    for (const [name, read] of properties) {
      const member = read();
      if (this.#side === "input" ? member.readOnly : member.writeOnly) continue;
      const value = this.value(member, levels, open);
      if (value !== undefined) members.push([name, value]);
    }
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
}

/** Many examples are texts whatever the type; the next one may be right. */
function isOfType(value: unknown, types: SchemaFacts["types"]): boolean {
  if (types.length === 0) return true;
  return types.some((type) => {
    if (type === "array") return Array.isArray(value);
    if (type === "object") return isRecord(value);
    if (type === "integer") return Number.isInteger(value);
    return typeof value === type;
  });
}
