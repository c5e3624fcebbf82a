import type { CallToolResult } from "../../protocol/mcp.ts";
import type { ExecuteOptions } from "../../host/registry.ts";
import type { ModelTool } from "../model/model-provider.ts";
import type { DataOrigin } from "./origin.ts";

/** A tool of the agent itself: it changes nothing. */
export interface OwnTool {
  definition: ModelTool;
  /** Whose data its result is; undefined if the result names the servers itself. */
  originOf?(args: Readonly<Record<string, unknown>>): DataOrigin | undefined;
  /** The server that it uses; then the user's consent is needed as for a read-only tool of that server. */
  serverOf?(args: Readonly<Record<string, unknown>>): string | undefined;
  /** Its result is never too long. */
  isBounded?: true;
  run(args: Readonly<Record<string, unknown>>, options: ExecuteOptions): Promise<CallToolResult> | CallToolResult;
}

export function textResult(text: string, isError = false): CallToolResult {
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}
