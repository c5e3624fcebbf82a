import { isRecord } from "../../json/is-record.ts";
import type { Tool, ToolAnnotations } from "../../protocol/mcp.ts";
import type { Effect, ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import {
  bytesOf,
  inlineSchema,
  reachedIn,
  smallSharedSchema,
  type JsonSchema,
  sharedSchema,
  type WrittenSchema,
} from "./json-schema.ts";
import { CUT_NOTE } from "./schema-writer.ts";

/** Maximum size of a definition, which a model has to read before it can call anything. */
export const DEFINITION_BYTES = 12 * 1024;

/** The parts of a tool's schemas that its definition does not show: paths, empty for the whole result. */
export interface CutParts {
  input: readonly string[];
  output: readonly string[];
}

/** A tool as clients see it: parts that would be too large are any object. */
export function toolDefinition(file: ToolFile, name: string, spec: ToolSpec): Tool {
  return fittedDefinition(file, name, spec).tool;
}

/** The arguments alone, as a definition without a result shows them; much faster than the whole definition. */
export function fittedInputSchema(file: ToolFile, name: string, spec: ToolSpec): Tool["inputSchema"] {
  const { type: _, ...response } = spec.response;
  return fittedDefinition(file, name, { ...spec, response: { ...response, as: "none" } }).tool.inputSchema;
}

/** The definition, and what is cut from it. Results are cut first, then arguments, at the largest depth that fits. */
export function fittedDefinition(file: ToolFile, name: string, spec: ToolSpec): { tool: Tool; cut: CutParts } {
  const made = (input: WrittenSchema, output: WrittenSchema) => ({
    tool: definitionWith(file, { name, spec }, input.schema, output.schema),
    cut: { input: input.cut, output: output.cut },
  });
  const fits = (input: WrittenSchema, output: WrittenSchema) => bytesOf(made(input, output).tool) <= DEFINITION_BYTES;
  const [plainInput, plainOutput] = (["input", "output"] as const).map((side) => inlineSchema(file, spec, side));
  if (plainInput && plainOutput && fits(plainInput, plainOutput)) return made(plainInput, plainOutput);

  const nothing: WrittenSchema = { schema: {}, cut: [] };
  if (!fits(nothing, nothing)) {
    // Its own description is too long, which is reported; cutting would not help.
    return made(plainInput ?? nothing, plainOutput ?? nothing);
  }
  const input = smallest(plainInput, smallSharedSchema(file, spec, "input", {}));
  const output = smallest(plainOutput, smallSharedSchema(file, spec, "output", {}));
  if (input && output && fits(input, output)) return made(input, output);
  const cutOutput = (input && deepest(file, spec, "output", (candidate) => fits(input, candidate))) ?? ANY_RESULT;
  if (input && fits(input, cutOutput)) return made(input, cutOutput);
  const cutInput = deepest(file, spec, "input", (candidate) => fits(candidate, ANY_RESULT));
  return made(cutInput ?? shortest(file, spec, (candidate) => fits(candidate, ANY_RESULT)), ANY_RESULT);
}

const ANY_RESULT: WrittenSchema = { schema: { type: "object" }, cut: [""] };

function smallest(plain: WrittenSchema | undefined, shared: WrittenSchema | undefined): WrittenSchema | undefined {
  if (!plain || !shared) return plain ?? shared;
  return bytesOf(plain.schema) <= bytesOf(shared.schema) ? plain : shared;
}

function deepest(
  file: ToolFile,
  spec: ToolSpec,
  side: "input" | "output",
  fits: (candidate: WrittenSchema) => boolean,
): WrittenSchema | undefined {
  const reached = reachedIn(file, spec, side);
  const depths = [...reached.values()].map(({ depth }) => depth);
  const most = depths.reduce((a, b) => Math.max(a, b), 0);
  let best: WrittenSchema | undefined;
  for (let depth = 0; depth < most; depth++) {
    const candidate = smallSharedSchema(file, spec, side, { depth, reached });
    if (!candidate || !fits(candidate)) break;
    best = candidate;
  }
  return best;
}

const SHORT = 80;

/** Arguments that are too many even without what is inside them: shorter descriptions, none, then only required ones. */
function shortest(file: ToolFile, spec: ToolSpec, fits: (candidate: WrittenSchema) => boolean): WrittenSchema {
  const { schema, cut } = sharedSchema(file, spec, "input", { depth: 0 });
  const properties = Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {});
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const withProperties = (each: readonly (readonly [string, unknown])[]): JsonSchema => ({
    ...schema,
    properties: Object.fromEntries(each),
  });
  const described = (shorten: (text: string) => string | undefined): WrittenSchema => {
    return { schema: withProperties(properties.map(([name, member]) => [name, redescribed(member, shorten)])), cut };
  };
  const needed = properties.filter(([name]) => required.has(name));
  const left = properties.filter(([name]) => !required.has(name)).map(([name]) => name);
  const onlyNeeded = (members: readonly (readonly [string, unknown])[], more: readonly string[]): WrittenSchema => {
    const { additionalProperties: _, ...open } = withProperties(members);
    return { schema: { ...open, description: CUT_NOTE }, cut: [...cut, ...left, ...more] };
  };
  const candidates = [
    () => described((text) => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text)),
    () => described(() => undefined),
    () =>
      onlyNeeded(
        needed.map(([name, member]) => [name, redescribed(member, () => undefined)]),
        [],
      ),
  ];
  for (const make of candidates) {
    const candidate = make();
    if (fits(candidate)) return candidate;
  }
  return onlyNeeded(
    needed.map(([name]) => [name, {}]),
    needed.map(([name]) => name),
  );
}

function redescribed(member: unknown, shorten: (text: string) => string | undefined): unknown {
  if (!isRecord(member) || typeof member["description"] !== "string") return member;
  const { description, ...rest } = member;
  const short = shorten(description);
  return short === undefined ? rest : { ...rest, description: short };
}

function definitionWith(
  file: ToolFile,
  { name, spec }: { name: string; spec: ToolSpec },
  inputSchema: JsonSchema,
  outputSchema: JsonSchema,
): Tool {
  return {
    name,
    title: spec.title,
    description: spec.description,
    inputSchema,
    outputSchema,
    annotations: annotations(spec.effect, spec.title),
    _meta: Object.fromEntries(
      Object.entries({ version: file.version, effect: spec.effect, ...spec.meta }).map(([key, value]) => [
        `dev.nexus/${key}`,
        value,
      ]),
    ),
  };
}

export function annotations(effect: Effect, title: string): ToolAnnotations {
  if (effect === "read") return { title, readOnlyHint: true, openWorldHint: true };
  return {
    title,
    readOnlyHint: false,
    destructiveHint: effect === "destructive",
    idempotentHint: false,
    openWorldHint: true,
  };
}
