import { exceededLimit } from "../../../json/nesting.ts";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import type { Shape, ToolFile } from "../../file/model/tool-file.ts";
import type { Codec } from "../record/codec.ts";
import { decodeJson, shown } from "./decode-json.ts";
import { type Deviation, Deviations, type Unknown } from "../record/deviations.ts";
import { encodeJson } from "./encode-json.ts";
import { compactLength } from "../../../json/compact-length.ts";
import { exactJson, parseExactJson } from "../../../json/exact-json.ts";
import { filePlans } from "./file-plans.ts";
import type { Planner, Side } from "../record/planner.ts";
import { NOT_QUICK } from "./quick-decoder.ts";
import type { RecordPath } from "../record/record-path.ts";
import type { ValueCodec } from "../record/record-plan.ts";
import type { Fields } from "../record/record-source.ts";
import { isJsonObject } from "../../../json/exact-decimal.ts";
import { utf8Text } from "../../../text/utf8-text.ts";

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
