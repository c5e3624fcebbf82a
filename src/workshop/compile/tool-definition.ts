import type { Tool, ToolAnnotations } from "../../protocol/mcp.ts";
import type { Effect, ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { inputSchema, outputSchema, type JsonSchema } from "./json-schema.ts";

/** The argument that asks for the raw answer, if a tool offers it. */
export const SOURCE_PAYLOAD = "includeSourcePayload";

/** A tool as clients see it. */
export function toolDefinition(file: ToolFile, name: string, spec: ToolSpec): Tool {
  return {
    name,
    title: spec.title,
    description: spec.description,
    inputSchema: inputOf(file, spec),
    outputSchema: outputOf(file, spec),
    annotations: annotations(spec.effect, spec.title),
    _meta: Object.fromEntries(
      Object.entries({ version: file.version, effect: spec.effect, ...spec.meta }).map(([key, value]) => [
        `dev.nexus/${key}`,
        value,
      ]),
    ),
  };
}

function inputOf(file: ToolFile, spec: ToolSpec): JsonSchema {
  const schema = inputSchema(file, spec.input, spec.unknown);
  if (!spec.response.sourcePayload) return schema;
  const asked = { type: "boolean", description: "Also return the answer as it came, without credentials." };
  return { ...schema, properties: { ...(schema["properties"] as JsonSchema), [SOURCE_PAYLOAD]: asked } };
}

function outputOf(file: ToolFile, { response }: ToolSpec): JsonSchema {
  if (response.type !== undefined) return outputSchema(file, response.type);
  if (response.as === "none") return { type: "object", properties: {} };
  return { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
}

function annotations(effect: Effect, title: string): ToolAnnotations {
  if (effect === "read") return { title, readOnlyHint: true, openWorldHint: true };
  return {
    title,
    readOnlyHint: false,
    destructiveHint: effect === "destructive",
    idempotentHint: false,
    openWorldHint: true,
  };
}
