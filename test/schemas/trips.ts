import type { Example } from "./spec.ts";

type Json = Record<string, unknown>;

/** Where an example stands on the wire, and which way it goes. */
export type Trip =
  /** The server's answer to a request. */
  | { kind: "result"; method: string; result: Json }
  | { kind: "error"; error: Json }
  /** What the server says by itself. */
  | { kind: "notification"; notification: Json }
  | { kind: "question"; question: Json }
  /** What the client sends. */
  | { kind: "request"; method: string; params: Json | undefined }
  | { kind: "reply"; method: string; result: Json }
  | { kind: "server capabilities"; capabilities: Json }
  | { kind: "client capabilities"; capabilities: Json };

/** Requests of the client by the first word of their definitions. */
const METHODS: Record<string, string> = {
  CallTool: "tools/call",
  Complete: "completion/complete",
  Discover: "server/discover",
  GetPrompt: "prompts/get",
  InputRequired: "tools/call",
  ListPrompts: "prompts/list",
  ListResourceTemplates: "resources/templates/list",
  ListResources: "resources/list",
  ListTools: "tools/list",
  Paginated: "tools/list",
  ReadResource: "resources/read",
  SubscriptionsListen: "subscriptions/listen",
};

/** Questions of the server, in the same way. */
const QUESTIONS: Record<string, string> = {
  CreateMessage: "sampling/createMessage",
  Elicit: "elicitation/create",
  ListRoots: "roots/list",
};

const NOTIFICATIONS: Record<string, string> = {
  Cancelled: "notifications/cancelled",
  LoggingMessage: "notifications/message",
  Progress: "notifications/progress",
  ResourceUpdated: "notifications/resources/updated",
};

/** The message that an example is, or the smallest one that it can be a part of. */
export function tripOf({ definition, value }: Example): Trip {
  const [, word = "", kind] =
    /^(.*?)(ResultResponse|Result|Request(?:Form|URL)?(?:Params)?|Notification(?:Params)?|Error)$/.exec(definition) ??
    [];
  switch (kind) {
    case "ResultResponse":
      return { kind: "result", method: known(METHODS, word), result: value["result"] as Json };
    case "Result":
      if (word in QUESTIONS) return { kind: "reply", method: known(QUESTIONS, word), result: value };
      return { kind: "result", method: known(METHODS, word), result: value };
    case "Error":
      return { kind: "error", error: (value["error"] ?? value) as Json };
    case "Notification":
      return { kind: "notification", notification: value };
    case "NotificationParams":
      return {
        kind: "notification",
        notification: { jsonrpc: "2.0", method: known(NOTIFICATIONS, word), params: value },
      };
    case "Request":
      if (word in QUESTIONS) return { kind: "question", question: value };
      return { kind: "request", method: known(METHODS, word), params: value["params"] as Json | undefined };
    case "RequestParams":
    case "RequestFormParams":
    case "RequestURLParams":
      if (word in QUESTIONS) return { kind: "question", question: { method: known(QUESTIONS, word), params: value } };
      return { kind: "request", method: known(METHODS, word), params: value };
    case undefined:
    default:
      return tripOfPart(definition, value);
  }
}

function tripOfPart(definition: string, value: Json): Trip {
  switch (definition) {
    case "ServerCapabilities":
      return { kind: "server capabilities", capabilities: value };
    case "ClientCapabilities":
      return { kind: "client capabilities", capabilities: value };
    case "Tool":
      return complete("tools/list", { tools: [value] });
    case "Resource":
      return complete("resources/list", { resources: [value] });
    case "BlobResourceContents":
    case "TextResourceContents":
      return complete("resources/read", { contents: [value] });
    case "AudioContent":
    case "EmbeddedResource":
    case "ImageContent":
    case "ResourceLink":
    case "TextContent":
      return complete("tools/call", { content: [value] });
    case "InputRequests":
      return { kind: "result", method: "tools/call", result: { resultType: "input_required", inputRequests: value } };
    case "InputResponses":
      return { kind: "request", method: "tools/call", params: { name: "any", inputResponses: value } };
    case "Root":
      return { kind: "reply", method: "roots/list", result: { roots: [value] } };
    case "SamplingMessage":
      return sampling({ messages: [value] });
    case "ModelPreferences":
      return sampling({ messages: [], modelPreferences: value });
    case "ToolResultContent":
      return sampling({ messages: [{ role: "user", content: [value] }] });
    case "ToolUseContent":
      return {
        kind: "reply",
        method: "sampling/createMessage",
        result: { role: "assistant", model: "m", content: value },
      };
    default:
      return tripOfField(definition, value);
  }
}

/** What is left are the kinds of field that a form can have. */
function tripOfField(definition: string, value: Json): Trip {
  if (!definition.endsWith("Schema")) throw new Error(`no message is known that a ${definition} can be a part of`);
  const requestedSchema = { type: "object", properties: { field: value } };
  return { kind: "question", question: { method: "elicitation/create", params: { message: "?", requestedSchema } } };
}

function complete(method: string, result: Json): Trip {
  return { kind: "result", method, result: { resultType: "complete", ...result } };
}

function sampling(params: Json): Trip {
  return { kind: "question", question: { method: "sampling/createMessage", params: { ...params, maxTokens: 1 } } };
}

function known(names: Record<string, string>, word: string): string {
  const found = names[word];
  if (found === undefined) throw new Error(`no method is known for "${word}"`);
  return found;
}
