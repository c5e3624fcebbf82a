import { isRecord } from "../../src/json/is-record.ts";

/** The first word of the definitions that belong to a method: `ListTools` for `ListToolsRequest` and `ListToolsResult`. */
const WORDS: Record<string, string> = {
  "completion/complete": "Complete",
  "elicitation/create": "Elicit",
  initialize: "Initialize",
  "logging/setLevel": "SetLevel",
  ping: "Ping",
  "prompts/get": "GetPrompt",
  "prompts/list": "ListPrompts",
  "resources/list": "ListResources",
  "resources/read": "ReadResource",
  "resources/subscribe": "Subscribe",
  "resources/templates/list": "ListResourceTemplates",
  "resources/unsubscribe": "Unsubscribe",
  "roots/list": "ListRoots",
  "sampling/createMessage": "CreateMessage",
  "server/discover": "Discover",
  "subscriptions/listen": "SubscriptionsListen",
  "tasks/cancel": "CancelTask",
  "tasks/get": "GetTask",
  "tasks/list": "ListTasks",
  "tasks/result": "GetTaskPayload",
  "tools/call": "CallTool",
  "tools/list": "ListTools",
  "notifications/cancelled": "Cancelled",
  "notifications/elicitation/complete": "ElicitationComplete",
  "notifications/initialized": "Initialized",
  "notifications/message": "LoggingMessage",
  "notifications/progress": "Progress",
  "notifications/prompts/list_changed": "PromptListChanged",
  "notifications/resources/list_changed": "ResourceListChanged",
  "notifications/resources/updated": "ResourceUpdated",
  "notifications/roots/list_changed": "RootsListChanged",
  "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledged",
  "notifications/tasks/status": "TaskStatus",
  "notifications/tools/list_changed": "ToolListChanged",
};

/** Requests whose answer says nothing but that it was done. */
const EMPTY = new Set(["logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"]);

/** Errors that have a definition of their own. */
const ERRORS: Record<number, string> = {
  [-32020]: "HeaderMismatchError",
  [-32021]: "MissingRequiredClientCapabilityError",
  [-32022]: "UnsupportedProtocolVersionError",
  [-32042]: "URLElicitationRequiredError",
};

/** The definition of a request or notification; undefined if no revision has the method. */
export function definitionOf(message: Record<string, unknown>): string | undefined {
  const word = WORDS[String(message["method"])];
  return word === undefined ? undefined : `${word}${"id" in message ? "Request" : "Notification"}`;
}

/** The definition of a result, by the request that it answers. */
export function resultDefinition(request: Record<string, unknown>, result: Record<string, unknown>): string {
  const { method, params } = request;
  if (result["resultType"] === "input_required") return "InputRequiredResult";
  if (isRecord(params) && "task" in params) return "CreateTaskResult";
  return EMPTY.has(String(method)) ? "EmptyResult" : `${WORDS[String(method)]}Result`;
}

export function errorDefinition(error: Record<string, unknown>): string | undefined {
  return ERRORS[Number(error["code"])];
}
