import { exceededLimit } from "../../../json/nesting.ts";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import type { Shape, ToolFile, ListShape, MapShape, ScalarShape, UnionShape } from "../../file/model/tool-file.ts";
import type { Codec } from "../record/codec.ts";
import { decodeJson, shown } from "./decode-json.ts";
import { type Deviation, Deviations, type Unknown } from "../record/deviations.ts";
import { encodeJson } from "./encode-json.ts";
import { compactLength } from "../../../json/compact-length.ts";
import { exactJson, parseExactJson, withPlainNumbers } from "../../../json/exact-json.ts";
import { Planner, type Side, type Notation } from "../record/planner.ts";
import { NOT_QUICK, QuickDecoder } from "./quick-decoder.ts";
import { type RecordPath, pathOf, unsuitable } from "../record/record-path.ts";
import type { ValueCodec } from "../record/record-plan.ts";
import type { Fields } from "../record/record-source.ts";
import { isJsonObject } from "../../../json/exact-decimal.ts";
import { utf8Text } from "../../../text/utf8-text.ts";
import { MEMBERS } from "./member-path.ts";
import { takesNull } from "../../shape/shape-parts.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";
import { AlternativeChooser } from "../union/alternative-chooser.ts";

/** How values of a shape are written as JSON, wherever they are. */
export function valueCodec(shape: Shape, planner: Planner): ValueCodec {
  switch (shape.kind) {
    case "scalar":
      return ofScalar(shape);
    case "list":
      return ofList(shape, planner);
    case "map":
      return ofMap(shape, planner);
    case "union":
      return ofUnion(shape, planner);
    case "object":
      return ofType(shape.type, planner);
    case "any":
      return ofAny(shape.only);
  }
}

function ofScalar(shape: ScalarShape): ValueCodec {
  const scalar = scalarOf(shape);
  return {
    encode: (value, place) => {
      const written = scalar.writeJson(value);
      if (written instanceof Mismatch) throw unsuitable(place, written.problem);
      return written;
    },
    decode: (value, found, place) => {
      const read = scalar.readJson(value);
      if (read instanceof Mismatch) return report(found, place, read.problem, value);
      const problem = scalar.limit?.(read, found.patternBudget);
      if (problem !== undefined) report(found, place, problem, value);
      return read;
    },
  };
}

function ofList({ of, minItems = 0, maxItems = Infinity }: ListShape, planner: Planner): ValueCodec {
  const item = lazily(() => planner.value(of));
  const hasNull = lazily(() => takesNull(planner, of));
  return {
    encode: (value, place) => {
      if (!Array.isArray(value)) throw unsuitable(place, "must be a list");
      return (value as unknown[]).map((each, index) => {
        const at = itemPlace(place, index);
        if (each === undefined || (each === null && !hasNull())) throw unsuitable(at, "is missing");
        return item().encode(each, at);
      });
    },
    decode: (value, found, place) => {
      if (!Array.isArray(value)) return report(found, place, "expected a list", value);
      const isFew = value.length < minItems;
      if (isFew || value.length > maxItems) {
        const limit = isFew ? `at least ${minItems}` : `at most ${maxItems}`;
        report(found, place, `expected ${limit} items`, value.length);
      }
      return (value as unknown[])
        .map((each, index) => {
          const at = itemPlace(place, index);
          return each === null && !hasNull()
            ? report(found, at, "expected a value, not null", each)
            : item().decode(each, found, at);
        })
        .filter((each) => each !== undefined);
    },
  };
}

function ofMap({ of, minEntries = 0, maxEntries = Infinity }: MapShape, planner: Planner): ValueCodec {
  const entry = lazily(() => planner.value(of));
  const hasNull = lazily(() => takesNull(planner, of));
  return {
    encode: (value, place) => {
      if (!isJsonObject(value)) throw unsuitable(place, "must be an object");
      // Without a prototype, because a member may be named __proto__.
      const object = Object.create(null) as Record<string, unknown>;
      for (const name of Object.keys(value)) {
        const member = value[name];
        if (member === undefined || (member === null && !hasNull())) continue;
        object[name] = entry().encode(member, memberPlace(place, name));
      }
      return object;
    },
    decode: (value, found, place) => {
      if (!isJsonObject(value)) return report(found, place, "expected an object", value);
      const entries = Object.entries(value).flatMap(([name, member]) => {
        const read =
          member === null && !hasNull() ? undefined : entry().decode(member, found, memberPlace(place, name));
        return read === undefined ? [] : [[name, read] as const];
      });
      const isFew = entries.length < minEntries;
      if (isFew || entries.length > maxEntries) {
        const limit = isFew ? `at least ${minEntries}` : `at most ${maxEntries}`;
        report(found, place, `expected ${limit} entries`, entries.length);
      }
      // Defines members, so a name like __proto__ stays a name.
      return Object.fromEntries(entries);
    },
  };
}

function ofUnion(union: UnionShape, planner: Planner): ValueCodec {
  const writing = new AlternativeChooser(planner.types, "names", planner.side);
  const reading = new AlternativeChooser(planner.types, "wire", planner.side);
  const codecs = new Map<string | Shape, ValueCodec>();
  const codecOf = (shape: Shape) => {
    const key = shape.kind === "object" ? shape.type : shape;
    const codec = codecs.get(key) ?? planner.value(shape);
    codecs.set(key, codec);
    return codec;
  };
  const expected = `expected ${union.of.map(nameOf).join(" or ")}`;
  return {
    encode: (value, place) => {
      const chosen = writing.choose(union, value);
      if (!chosen) throw unsuitable(place, expected);
      return codecOf(chosen.shape).encode(value, place);
    },
    decode: (value, found, place) => {
      const chosen = reading.choose(union, value);
      if (chosen) return codecOf(chosen.shape).decode(value, found, place);
      report(found, place, expected, value);
      return withPlainNumbers(value);
    },
  };
}

function ofType(type: string, planner: Planner): ValueCodec {
  const union = planner.types[type]?.union;
  if (union) {
    const inner = lazily(() => planner.value(union));
    return {
      encode: (value, place) => inner().encode(value, place),
      decode: (value, found, place) => inner().decode(value, found, place),
    };
  }
  const plan = planner.record(type);
  return {
    encode: (value, place) => {
      if (!isJsonObject(value)) throw unsuitable(place, "must be an object");
      return encodeJson(plan, value, place);
    },
    decode: (value, found, place) => {
      if (!isJsonObject(value) && !plan.root.value && !plan.root.byName.has(".") && plan.root.text.length === 0) {
        return report(found, place, "expected an object", value);
      }
      return decodeJson(plan, value, found, place);
    },
  };
}

function ofAny(only: "object" | undefined): ValueCodec {
  return {
    encode: (value, place) => {
      if (only && !isJsonObject(value)) throw unsuitable(place, "must be an object");
      return value;
    },
    decode: (value, found, place) =>
      only && !isJsonObject(value) ? report(found, place, "expected an object", value) : withPlainNumbers(value),
  };
}

function nameOf(shape: Shape): string {
  switch (shape.kind) {
    case "scalar":
    case "object":
      return shape.type;
    case "union":
      return shape.of.map(nameOf).join(" or ");
    case "any":
      return shape.only === "object" ? "an object" : "any value";
    case "list":
    case "map":
      return `a ${shape.kind}`;
  }
}

function itemPlace(within: RecordPath, index: number): RecordPath {
  return { within, list: "", index };
}

function memberPlace(within: RecordPath, name: string): RecordPath {
  return { within, list: name, index: -1 };
}

function report(found: Deviations, place: RecordPath, problem: string, received: unknown): undefined {
  found.add(found.isFull ? "" : pathOf(place), problem, shown(received, found));
  return undefined;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

export interface JsonOptions {
  unknown?: Unknown | undefined;
  side?: Side;
}

export function jsonCodec(file: ToolFile, type: string, { unknown, side }: JsonOptions = {}): Codec {
  const plans = filePlans(file);
  const planner = plans.planner(side);
  const way = file.types[type]?.union ? wholeUnion(planner.value({ kind: "object", type })) : whole(planner, type);
  const quick = side === "output" ? plans.quickDecoder(unknown ?? "report").decoderOf(type) : undefined;
  return {
    encode: (value) => exactJson(way.encode(value)),
    decode: (body) => {
      const text = textOf(body);
      const plain = parsedJson(withinLimits(text));
      const value = quick ? quick(plain) : NOT_QUICK;
      if (value !== NOT_QUICK) {
        const isDocument = value === plain && compactLength(value) === text.length;
        return { value, deviations: [], json: isDocument ? text : undefined };
      }
      const found = new Deviations(unknown);
      try {
        return { value: way.decode(plain, found), deviations: found.all() };
      } catch (error) {
        // Unknown parts of an answer may be nested deeper than any stack.
        throw error instanceof RangeError ? unreadable("it is nested too deep") : error;
      }
    },
  };
}

/** A single value of a shape as JSON text: a parameter, or a part of a body. */
export interface JsonValue {
  encode(value: unknown, path: string): string;
  /** Throws if it is not JSON. */
  decode(text: string, path: string): { value: unknown; deviations: Deviation[] };
}

export function jsonValue(file: ToolFile, shape: Shape): JsonValue {
  const codec = filePlans(file).planner("input").value(shape);
  const placeOf = (list: string): RecordPath => ({ within: undefined, list, index: -1 });
  return {
    encode: (value, path) => exactJson(codec.encode(value, placeOf(path))),
    decode: (text, path) => {
      const found = new Deviations();
      return { value: codec.decode(parsedJson(textOf(text)), found, placeOf(path)), deviations: found.all() };
    },
  };
}

interface Whole {
  encode(value: Fields): unknown;
  decode(json: unknown, found: Deviations): Fields;
}

function whole(planner: Planner, type: string): Whole {
  const plan = planner.document(type);
  return { encode: (value) => encodeJson(plan, value), decode: (json, found) => decodeJson(plan, json, found) };
}

/** The type is a union: its alternatives have to be objects. */
function wholeUnion(codec: ValueCodec): Whole {
  const place: RecordPath = { within: undefined, list: "", index: -1 };
  return {
    encode: (value) => codec.encode(value, place),
    decode: (json, found) => {
      const value = codec.decode(json, found, place);
      if (isJsonObject(value)) return value;
      if (found.all().length === 0) found.add("", "expected an object", shown(json));
      return {};
    },
  };
}

function textOf(body: Uint8Array | string): string {
  const text = typeof body === "string" ? body.replace(/^\uFEFF/, "") : utf8Text(body);
  if (text === undefined) throw unreadable("its bytes are not UTF-8");
  return text;
}

/** A value costs many times the memory and time of its text; with XML, elements are limited in the same way. */
const MAX_VALUES = 200_000;
const MAX_MEMBERS = 50_000;

/** Refuses the text of an answer before it is parsed. */
export function withinLimits(text: string): string {
  const exceeded = exceededLimit(text, { depth: Infinity, values: MAX_VALUES, members: MAX_MEMBERS });
  if (exceeded === "values") throw unreadable(`it has more than ${MAX_VALUES} values`);
  if (exceeded === "members") throw unreadable(`an object in it has more than ${MAX_MEMBERS} members`);
  return text;
}

function parsedJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw unreadable(error instanceof SyntaxError ? `it is not JSON${placeIn(error)}` : "it is nested too deep");
  }
}

function unreadable(problem: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The JSON cannot be read: ${problem}`, { mayHaveReached: true });
}

/** Only the position: the rest of the message may quote the text, which may contain a part of a secret. */
function placeIn(error: SyntaxError): string {
  const [, position] = /at position (\d+)/.exec(messageOf(error)) ?? [];
  return position === undefined ? "" : ` from character ${Number(position) + 1} on`;
}

/** JSON also has maps, unions, null and any values. */
const JSON_NOTATION: Notation = { ...MEMBERS, value: valueCodec };

/**
 * How the types of one file are read and written as JSON. All tools share it: in a large API most of them have the same
 * types, and planning these for each tool would take longer than reading the file.
 */
class FilePlans {
  readonly #file: ToolFile;
  readonly #planners = new Map<Side, Planner>();
  readonly #decoders = new Map<Unknown, QuickDecoder>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  planner(side: Side): Planner {
    const known = this.#planners.get(side) ?? new Planner(this.#file, JSON_NOTATION, side);
    this.#planners.set(side, known);
    return known;
  }

  /** For answers. */
  quickDecoder(unknown: Unknown): QuickDecoder {
    const known = this.#decoders.get(unknown) ?? new QuickDecoder(this.#file, unknown);
    this.#decoders.set(unknown, known);
    return known;
  }
}

const plans = new WeakMap<ToolFile, FilePlans>();

function filePlans(file: ToolFile): FilePlans {
  const known = plans.get(file) ?? new FilePlans(file);
  plans.set(file, known);
  return known;
}
