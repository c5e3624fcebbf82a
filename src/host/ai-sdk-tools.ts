import type { CallToolResult } from "../protocol/mcp.ts";
import type { AgentTool } from "./registry.ts";
import { resultParts } from "./result-parts.ts";

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
function modelOutput(result: CallToolResult): AiSdkOutput {
  const parts = resultParts(result);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (result.isError) return { type: "error-text", value: texts.join("\n") || "The tool reported an error." };
  if (texts.length === parts.length) return { type: "text", value: texts.join("\n") };
  return { type: "content", value: parts };
}
