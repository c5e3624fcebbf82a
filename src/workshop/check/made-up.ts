import { Ajv2020 } from "ajv/dist/2020.js";
import { Mismatch, scalarOf } from "../codec/record/scalar.ts";
import { sampleText } from "../pattern/sample-text.ts";
import { StepBudget } from "../pattern/step-budget.ts";
import type {
  FieldSpec,
  ScalarShape,
  ToolFile,
  ListShape,
  MapShape,
  Shape,
  UnionShape,
} from "../file/model/tool-file.ts";
import { isForCallers } from "./completion.ts";
import { TypeHeights } from "./type-heights.ts";
import { findType, findUnion, isOnSide } from "../shape/shape-parts.ts";
import { tagOf, type Tag } from "../shape/union-tags.ts";
import { isRecord } from "../../json/is-record.ts";

const MAX_SAMPLE_DEPTH = 8;

const DAY_MS = 86_400_000;
/** Tried in order for a text that has to match a pattern. */
const TEXTS = ["example", "AB", "A1", "1", "10:00", "T-1", "12345", "AT", "de", "2026-01-01", "a@example.com"];
const OF_FORMATS: Readonly<Record<string, string>> = {
  email: "a@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  date: "2026-01-01",
  "date-time": "2026-01-01T12:00:00Z",
  time: "12:00:00Z",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  hostname: "example.com",
};

/**
 * A value of a type, always the same: the value of the request with the same name, otherwise the smallest valid one.
 * For tools whose fake answers are not in the file.
 */
export function madeUp(
  file: ToolFile,
  type: string,
  { input, heights }: { input: Record<string, unknown>; heights?: TypeHeights },
): Record<string, unknown> {
  const asked = (name: string) => (Object.hasOwn(input, name) ? input[name] : undefined);
  const making: Making = {
    side: "output",
    isGiven: isMadeUp,
    single: (shape, name) => madeUpValue(shape, asked(name)),
  };
  return new ValueMaker(file, making, heights).value(type);
}

/**
 * Whether a field gets a value: computed and constant fields get theirs elsewhere, and fields that are read for errors
 * would cause one.
 */
function isMadeUp({ wire, value, const: constant, hidden, optional }: FieldSpec): boolean {
  return wire !== false && value === undefined && constant === undefined && !(hidden && optional);
}

/** Generates arguments: the smallest valid value of each field, and each date one day later than the one before. */
export function madeUpCall(
  file: ToolFile,
  type: string,
  { from, all }: { from: number; all: boolean },
): Record<string, unknown> {
  let day = from;
  const nextDay = () => {
    const text = new Date(day).toISOString().slice(0, 10);
    day += DAY_MS;
    return text;
  };
  const isNeeded = (field: FieldSpec) => !field.optional && field.default === undefined;
  return new ValueMaker(file, {
    side: "input",
    isGiven: (field, isDeep) => isForCallers(field) && (isNeeded(field) || (all && !isDeep)),
    single: (shape) => (shape.type === "date" && !shape.enum && !shape.codes ? nextDay() : madeUpValue(shape)),
  }).value(type);
}

/** The requested value if it is valid, otherwise the smallest valid one; undefined if none is found. */
export function madeUpValue(shape: ScalarShape, asked?: unknown): unknown {
  const scalar = scalarOf(shape);
  const isRight = (value: unknown) => {
    const text = scalar.write(value);
    if (typeof text !== "string" || scalar.read(text) instanceof Mismatch) return false;
    if (scalar.limit?.(value, new StepBudget()) !== undefined) return false;
    return typeof value !== "number" || isWithin(shape, value);
  };
  return [asked, ...candidates(shape)].find((value) => value !== undefined && isRight(value));
}

function isWithin(shape: ScalarShape, value: number): boolean {
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity, multipleOf } = shape;
  return value > above && value < below && (multipleOf === undefined || Number.isInteger(value / multipleOf));
}

function candidates(shape: ScalarShape): unknown[] {
  if (shape.codes) return Object.values(shape.codes);
  if (shape.enum) return shape.enum;
  switch (shape.type) {
    case "string":
      return [OF_FORMATS[shape.format ?? ""], sampleText(TEXTS, shape)];
    case "integer":
    case "number":
      return numbers(shape);
    case "boolean":
    case "presence":
      return [true];
    case "date":
      return ["2026-01-01"];
    case "datetime":
      return ["2026-01-01T12:00:00", "2026-01-01T12:00:00Z"];
    case "binary":
      return ["ZXhhbXBsZQ=="];
  }
}

/** 1 or the limits; between limits that are not included, and multiples near them. */
function numbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: ScalarShape): unknown[] {
  const low = minimum ?? exclusiveMinimum;
  const high = maximum ?? exclusiveMaximum;
  const middle = low === undefined ? (high ?? 1) - 1 : high === undefined ? low + 1 : (low + high) / 2;
  const plain = [1, minimum, maximum, 0, middle, Math.floor(middle), Math.ceil(middle)];
  if (multipleOf === undefined) return plain;
  const steps = [low ?? 0, high ?? 0, middle].flatMap((near) => {
    const count = Math.floor(near / multipleOf);
    return [count, count + 1, count + 2, count - 1].map((each) => each * multipleOf + 0);
  });
  return [...plain, multipleOf, ...steps];
}

type Value = Record<string, unknown>;

/** How values are made. */
interface Making {
  side: "input" | "output";
  /** Whether a field gets a value; `isDeep`: only what is needed. */
  isGiven(field: FieldSpec, isDeep: boolean): boolean;
  /** A single value; undefined if none is found. */
  single(shape: ScalarShape, name: string): unknown;
}

/** From here on, only what is needed: recursive types would not end. */
const DEEP = 4;
/** Lists that must have items of their own type never end. */
const MAX_DEPTH = 40;
/** Of one value; further ones stay empty. */
const MAX_OBJECTS = 5_000;

/** Makes values of types: always the same, and as small as possible. */
export class ValueMaker {
  readonly #file: ToolFile;
  readonly #making: Making;
  readonly #heights: TypeHeights;
  #objects = 0;

  constructor(file: ToolFile, making: Making, heights = new TypeHeights(file)) {
    this.#file = file;
    this.#making = making;
    this.#heights = heights;
  }

  value(type: string, depth = 0, tag?: Tag): Value {
    // Types that have each other twice double with each level.
    if (++this.#objects > MAX_OBJECTS) return {};
    const members: (readonly [string, unknown])[] = [];
    for (const [name, field] of Object.entries(findType(this.#file, type)?.fields ?? {})) {
      if (name === tag?.field) members.push([name, tag.values[0]]);
      else if (field.const !== undefined) {
        if (this.#making.isGiven(field, depth >= DEEP)) members.push([name, field.const]);
      } else if (isOnSide(field, this.#making.side) && this.#making.isGiven(field, depth >= DEEP)) {
        members.push([name, this.#ofField(field, name, depth)]);
      }
    }
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  #ofField(field: FieldSpec, name: string, depth: number): unknown {
    const { shape, optional, nullable } = field;
    if (depth >= DEEP && optional && this.#heights.of(shape) > 0) return undefined;
    if (depth >= DEEP && nullable && this.#heights.of(shape) === Infinity) return null;
    return this.#ofShape(shape, name, depth) ?? (nullable ? null : undefined);
  }

  #ofShape(shape: Shape, name: string, depth: number): unknown {
    if (depth > MAX_DEPTH) return undefined;
    const union = findUnion(this.#file, shape);
    if (union) return this.#ofUnion(union, name, depth);
    switch (shape.kind) {
      case "scalar":
        return this.#making.single(shape, name);
      case "object":
        return this.value(shape.type, depth + 1);
      case "list":
        return this.#items(shape, name, depth);
      case "map":
        return this.#entries(shape, name, depth);
      case "any":
        if (shape.schema?.["type"] === "null") return null;
        if (shape.schema && this.#making.side === "input") return sampleOf(shape.schema);
        return shape.only === "object" ? {} : "example";
      case "union":
        return undefined;
    }
  }

  #items(shape: ListShape, name: string, depth: number): unknown[] {
    const { minItems = 0, maxItems = Infinity } = shape;
    if (depth >= DEEP && this.#making.side === "output" && this.#heights.of(shape.of) === Infinity) return [];
    const length = Math.max(minItems, Math.min(depth >= DEEP ? 0 : 1, maxItems));
    if (shape.uniqueItems && length > 1) return this.#distinct(shape, length, name, depth);
    return Array.from({ length }, () => this.#ofShape(shape.of, name === "" ? "" : `${name}[]`, depth + 1));
  }

  #entries(shape: MapShape, name: string, depth: number): Value {
    const { minEntries = 0, maxEntries = Infinity } = shape;
    if (depth >= DEEP && this.#making.side === "output" && this.#heights.of(shape.of) === Infinity) return {};
    const length = Math.max(minEntries, Math.min(depth >= DEEP ? 0 : 1, maxEntries));
    const keys = Array.from({ length }, (_, index) => (index === 0 ? "key" : `key${index + 1}`));
    const values = keys.map((key) => [key, this.#ofShape(shape.of, `${name}.*`, depth + 1)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** Items that differ from each other. */
  #distinct({ of }: ListShape, length: number, name: string, depth: number): unknown[] {
    if (of.kind !== "scalar") return [this.#ofShape(of, name, depth + 1)];
    const names = of.codes ? Object.values(of.codes) : of.enum;
    if (names) return [...new Set(names)].slice(0, length);
    const first = this.#making.single(of, name);
    return Array.from({ length }, (_, index) => {
      if (typeof first === "number") return first + index * (of.multipleOf ?? 1);
      return index === 0 || typeof first !== "string" ? first : `${first}${index + 1}`.slice(0, of.maxLength);
    });
  }

  /** The first alternative; deep inside, the one that ends first. */
  #ofUnion(union: UnionShape, name: string, depth: number): unknown {
    const order = depth >= DEEP ? union.of.toSorted((a, b) => this.#heights.of(a) - this.#heights.of(b)) : union.of;
    for (const shape of order) {
      const tag = shape.kind === "object" ? tagOf(this.#file, union, shape.type) : undefined;
      const value =
        tag && shape.kind === "object" ? this.value(shape.type, depth + 1, tag) : this.#ofShape(shape, name, depth + 1);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

/** A value that a JSON Schema from a tool file accepts; undefined if none is found. */
function sampleOf(schema: Readonly<Record<string, unknown>>): unknown {
  const accepts = new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(schema);
  return sampleCandidates(schema, 0).find((value) => accepts(value));
}

function sampleCandidates(schema: unknown, depth: number): unknown[] {
  if (!isRecord(schema) || depth > MAX_SAMPLE_DEPTH) return ["example"];
  const { const: constant, default: standard, examples, enum: values } = schema;
  const given = [constant, standard, ...listOf(examples), ...listOf(values)].filter((value) => value !== undefined);
  const inner = ["anyOf", "oneOf", "allOf"].flatMap((key) => listOf(schema[key]));
  return [...given, ...ofTypes(schema, depth), ...inner.flatMap((each) => sampleCandidates(each, depth + 1))];
}

function ofTypes(schema: Record<string, unknown>, depth: number): unknown[] {
  const first = (inner: unknown) => sampleCandidates(inner, depth + 1)[0];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = listOf(schema["required"]).map(String);
  const object = Object.fromEntries(required.map((name) => [name, first(properties[name])]));
  const all: Record<string, unknown[]> = {
    object: [object, {}],
    array: [[], Array.from({ length: Number(schema["minItems"] ?? 1) }, () => first(schema["items"]))],
    string: ["example", "example".padEnd(Number(schema["minLength"] ?? 0), "x").slice(0, limit(schema["maxLength"]))],
    integer: [1, schema["minimum"], schema["maximum"], schema["multipleOf"]],
    number: [1, schema["minimum"], schema["maximum"], schema["multipleOf"]],
    boolean: [true],
    null: [null],
  };
  const types = schema["type"] === undefined ? Object.keys(all) : [schema["type"]].flat().map(String);
  return types.flatMap((type) => all[type] ?? []).filter((value) => value !== undefined);
}

function limit(value: unknown): number {
  return typeof value === "number" ? value : Infinity;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
