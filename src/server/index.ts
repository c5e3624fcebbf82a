/** To write MCP servers that clients of every revision can use, over HTTP, stdio, or in the same process. */
export { McpServer, type CompleteOptions, type McpServerOptions } from "./features/mcp-server.ts";
export type { AnswersTo, InputOptions, CallContext, InputAnswers, InputRequests } from "./features/call-context.ts";
export { oneOf } from "./features/completion.ts";
export type {
  Completer,
  MethodHandler,
  OrText,
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  ResourceOptions,
  TemplateHandler,
  TemplateOptions,
  ToolDeclaration,
  ToolHandler,
  ToolOptions,
  ToolResult,
} from "./features/features.ts";
export type { FromSchema, JsonSchemaObject, StandardSchema, ValueSchema } from "./features/schema-types.ts";
export { structuredResult, textResult } from "./features/arguments.ts";
export type { Core, Caller, Exchange, Listening, ListenRequest, Offer, Servable } from "./core/core.ts";
export { serveHttp, type ServeHttpOptions, type HttpServing } from "./http/serve-http.ts";
export type { ServerLimits } from "./core/limits.ts";
export { serveMemory, type MemoryEnd, type ServeMemoryOptions } from "./memory/serve-memory.ts";
export type { Authenticate, Principal } from "./core/principal.ts";
export { rpcError } from "./core/rpc-error.ts";
export { serveStdio, type ServeStdioOptions } from "./stdio/serve-stdio.ts";
