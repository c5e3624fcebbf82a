import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { CHECKED_ID, SchemaTooLarge, SchemaWriter, type SchemaStyle } from "./schema-writer.ts";
import { type Reached, reachedTypes } from "./type-reach.ts";

export type JsonSchema = Record<string, unknown>;

/** A schema, and the paths of the parts that are any object in it because they would be too large. */
export interface WrittenSchema {
  schema: JsonSchema;
  cut: readonly string[];
}

/** The argument that asks for the raw answer, if a tool offers it. */
export const SOURCE_PAYLOAD = "includeSourcePayload";

/** More fields do not fit into a definition, even with one letter each. */
const MAX_INLINE_PROPERTIES = 1_600;
/** A schema that is larger is written with shared types. */
const MAX_INLINE_BYTES = 12 * 1024;

/** The whole schema of a caller's arguments, without fields that are set automatically. */
export function fullInputSchema(file: ToolFile, spec: ToolSpec): JsonSchema {
  return (inlineSchema(file, spec, "input") ?? sharedSchema(file, spec, "input")).schema;
}

/** The whole schema of a result. */
export function fullOutputSchema(file: ToolFile, spec: ToolSpec): JsonSchema {
  return (inlineSchema(file, spec, "output") ?? sharedSchema(file, spec, "output")).schema;
}

/** The schema that arguments are checked against: with the checker's own keyword for alternatives. */
export function checkedSchema(file: ToolFile, spec: ToolSpec): JsonSchema {
  const writer = new SchemaWriter(file, { ...styleOf(spec, "input"), isInline: () => false, forChecks: true });
  return { $id: CHECKED_ID, ...withArguments(spec, writer.whole(spec.input)) };
}

/** Every type in its own place, which is the easiest to read; undefined if it is too large for that. */
export function inlineSchema(file: ToolFile, spec: ToolSpec, side: "input" | "output"): WrittenSchema | undefined {
  return unlessTooLarge(() => {
    const written = writtenAs(file, spec, { ...styleOf(spec, side), maxProperties: MAX_INLINE_PROPERTIES });
    return bytesOf(written.schema) <= MAX_INLINE_BYTES ? written : undefined;
  });
}

function unlessTooLarge<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof SchemaTooLarge) return undefined;
    throw error;
  }
}

interface SharedOptions {
  /** Types that are deeper inside are left out. */
  depth?: number;
  reached?: ReadonlyMap<string, Reached>;
  /** More throw SchemaTooLarge. */
  maxProperties?: number;
}

/** The types that callers see in the arguments or in the result of a tool. */
export function reachedIn(file: ToolFile, spec: ToolSpec, side: "input" | "output"): Map<string, Reached> {
  const root = side === "input" ? spec.input : spec.response.type;
  return root === undefined ? new Map<string, Reached>() : reachedTypes(file, root, side);
}

/** The same, if it may fit into a definition. */
export function smallSharedSchema(
  file: ToolFile,
  spec: ToolSpec,
  side: "input" | "output",
  options: SharedOptions,
): WrittenSchema | undefined {
  return unlessTooLarge(() => sharedSchema(file, spec, side, { ...options, maxProperties: MAX_INLINE_PROPERTIES }));
}

/** Types that are used several times are written once. */
export function sharedSchema(
  file: ToolFile,
  spec: ToolSpec,
  side: "input" | "output",
  { depth = Infinity, reached = reachedIn(file, spec, side), maxProperties = Infinity }: SharedOptions = {},
): WrittenSchema {
  return writtenAs(file, spec, {
    ...styleOf(spec, side),
    isInline: (type) => (reached.get(type)?.uses ?? 0) < 2,
    isCut: (type) => (reached.get(type)?.depth ?? 0) > depth,
    maxProperties,
  });
}

function styleOf({ unknown }: ToolSpec, side: "input" | "output"): SchemaStyle {
  return { side, closed: side === "input" && unknown === "reject" };
}

function writtenAs(file: ToolFile, spec: ToolSpec, style: SchemaStyle): WrittenSchema {
  const writer = new SchemaWriter(file, style);
  if (style.side === "input") return { schema: withArguments(spec, writer.whole(spec.input)), cut: writer.cut };
  const { as, type } = spec.response;
  if (type !== undefined) return { schema: withMore(spec, withDeviations(writer.whole(type))), cut: writer.cut };
  if (as === "none") return { schema: { type: "object", properties: {} }, cut: [] };
  if (as === "auto") return { schema: { type: "object" }, cut: [] };
  if (as === "binary") return { schema: { type: "object", properties: FILE, required: Object.keys(FILE) }, cut: [] };
  return { schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }, cut: [] };
}

/** What is known about bytes; they are in the content of the result. */
const FILE: JsonSchema = { contentType: { type: "string" }, size: { type: "integer" } };

function withArguments({ response }: ToolSpec, schema: JsonSchema): JsonSchema {
  if (!response.sourcePayload) return schema;
  const asked = { type: "boolean", description: "Also return the answer as it came, without credentials." };
  return { ...schema, properties: { ...(schema["properties"] as JsonSchema), [SOURCE_PAYLOAD]: asked } };
}

/**
 * Upstream decides what it answers, so only lists and constants, which are always present, are required. An answer
 * without something else is still a valid result, with `deviations`.
 */
function withDeviations(schema: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...(schema["properties"] as JsonSchema), deviations: DEVIATIONS } };
}

function withMore({ paging }: ToolSpec, schema: JsonSchema): JsonSchema {
  if (paging === undefined) return schema;
  return { ...schema, properties: { ...(schema["properties"] as JsonSchema), more: MORE } };
}

/** Only in results with pages that were not read. */
const MORE: JsonSchema = {
  type: "object",
  description: "There is more: why it ended here, and the arguments with which the same call goes on.",
  properties: { next: { type: "object" }, why: { type: "string" } },
  required: ["why"],
};

const DEVIATIONS: JsonSchema = {
  type: "array",
  description: "Where the answer was not as documented: what was received stands here instead of in its place.",
  items: {
    type: "object",
    properties: { path: { type: "string" }, problem: { type: "string" }, received: { type: "string" } },
    required: ["path", "problem"],
  },
};

/** The size of a value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
