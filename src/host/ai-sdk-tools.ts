import type { CallToolResult, Content, ResourceContents } from "../protocol/mcp.ts";
import { repeatsStructure } from "../protocol/repeated-structure.ts";
import type { AgentTool } from "./registry.ts";

/** A tool in the format of the Vercel AI SDK. */
export interface AiSdkTool<S> {
  description: string;
  inputSchema: S;
  execute(args: unknown, options: { abortSignal?: AbortSignal }): Promise<CallToolResult>;
  /** Converts a result to what the model sees. */
  toModelOutput(given: { output: unknown }): AiSdkOutput;
}

export type AiSdkOutput = { type: "text" | "error-text"; value: string } | { type: "content"; value: AiSdkPart[] };

export type AiSdkPart = { type: "text"; text: string } | { type: "media"; data: string; mediaType: string };

/** The tools in the format of the Vercel AI SDK; `jsonSchema` is a function of that package. */
export function aiSdkTools<S>(
  tools: readonly AgentTool[],
  { jsonSchema }: { jsonSchema: (schema: Record<string, unknown>) => S },
): Record<string, AiSdkTool<S>> {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      {
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        execute: (args, { abortSignal }) => tool.execute(args, { signal: abortSignal }),
        toModelOutput: ({ output }) => modelOutput(output as CallToolResult),
      },
    ]),
  );
}

/**
 * The structured data as text, images and audio as media, and errors as errors, without other parts of the protocol.
 */
function modelOutput({ content, structuredContent, isError }: CallToolResult): AiSdkOutput {
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.map(partOf);
  if (structuredContent !== undefined && !blocks.some((block) => repeatsStructure(block, structuredContent))) {
    parts.push({ type: "text", text: JSON.stringify(structuredContent) });
  }
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (isError) return { type: "error-text", value: texts.join("\n") || "The tool reported an error." };
  if (texts.length === parts.length) return { type: "text", value: texts.join("\n") };
  return { type: "content", value: parts };
}

function partOf(block: Content): AiSdkPart {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type: "media", data, mediaType: mimeType ?? "application/octet-stream" };
  }
  if (type === "resource" && resource) return resourcePart(resource);
  if (type === "resource_link")
    return { type: "text", text: `${typeof name === "string" ? `${name}: ` : ""}${uri ?? ""}` };
  return { type: "text", text: JSON.stringify(block) };
}

function resourcePart({ uri, text, blob, mimeType }: ResourceContents): AiSdkPart {
  if (text !== undefined) return { type: "text", text: `${uri}\n${text}` };
  if (blob === undefined) return { type: "text", text: uri };
  return { type: "media", data: blob, mediaType: mimeType ?? "application/octet-stream" };
}
