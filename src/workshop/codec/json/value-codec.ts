import { isJsonObject } from "../../../json/exact-decimal.ts";
import { withPlainNumbers } from "../../../json/exact-json.ts";
import type { ListShape, MapShape, ScalarShape, Shape, UnionShape } from "../../file/model/tool-file.ts";
import { takesNull } from "../../shape/shape-parts.ts";
import type { Deviations } from "../record/deviations.ts";
import type { Planner } from "../record/planner.ts";
import { pathOf, type RecordPath, unsuitable } from "../record/record-path.ts";
import type { ValueCodec } from "../record/record-plan.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";
import { AlternativeChooser } from "../union/alternative-chooser.ts";
import { decodeJson, shown } from "./decode-json.ts";
import { encodeJson } from "./encode-json.ts";

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
