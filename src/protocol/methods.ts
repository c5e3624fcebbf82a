import type { ChangingList, ListKind } from "./list-kinds.ts";
import type { Era } from "./revisions.ts";

/** The requests of MCP in all revisions, and those of extensions that this code reads. */
type Method =
  | "initialize"
  | "ping"
  | "logging/setLevel"
  | "server/discover"
  | "subscriptions/listen"
  | "resources/subscribe"
  | "resources/unsubscribe"
  | "tools/list"
  | "resources/list"
  | "resources/templates/list"
  | "prompts/list"
  | "tools/call"
  | "prompts/get"
  | "resources/read"
  | "completion/complete"
  | "tasks/get"
  | "tasks/update"
  | "tasks/cancel"
  | "tasks/result"
  | "tasks/list"
  | "roots/list"
  | "sampling/createMessage"
  | "elicitation/create"
  | "skills/list";

/** What is known about a method of MCP. A new method does not compile until all of it is decided. */
interface MethodTraits {
  era: Era | "both";
  /**
   * Where a request goes: to the next neighbour only (`hop`), from a server to the user (`input`), to the server of its
   * target (`server`), or unread to the server of an endpoint with only one (`extension`).
   */
  route: "hop" | "input" | "server" | "extension";
  /** The kind of target for access rules; `method` if it may do anything. */
  target: MethodTarget;
  /** The parameter that names the target. */
  param: "name" | "uri" | "ref" | "taskId" | undefined;
  /** Whether repeating it can have an effect twice, and whether its result says how long it stays valid. */
  repeat: "cacheable" | "safe" | "unsafe";
  /** Whether the server may ask for input before it answers. */
  asks: boolean;
  becomesTask: boolean;
  /** The member of the result with the items of a list. */
  items: ListKind | "skills" | "tasks" | undefined;
  /** The notification that makes an earlier result outdated. */
  staleAfter: `notifications/${ChangingList}/list_changed` | "notifications/resources/updated" | undefined;
}

/** What a request can be about. */
type MethodTarget = "server" | "tool" | "prompt" | "resource" | "subscription" | "completion" | "task" | "method";

const NO_LIST = { items: undefined, staleAfter: undefined } as const;
const UNSAFE = { repeat: "unsafe", asks: false, becomesTask: false } as const;
const SAFE = { ...UNSAFE, repeat: "safe" } as const;
const CACHEABLE = { ...UNSAFE, repeat: "cacheable" } as const;
const HOP = { ...NO_LIST, ...UNSAFE, route: "hop", target: "server", param: undefined } as const;
const INPUT = { ...HOP, era: "both", route: "input", target: "method" } as const;
const FORWARDED = { ...NO_LIST, era: "both", route: "server" } as const;
const SUBSCRIPTION = { ...HOP, era: "legacy", target: "subscription", param: "uri" } as const;
const TASK = { ...FORWARDED, ...UNSAFE, target: "task", param: "taskId" } as const;

const LIST = { ...FORWARDED, ...CACHEABLE, target: "server", param: undefined } as const;

const METHODS: Readonly<Record<Method, MethodTraits>> = {
  initialize: { ...HOP, era: "legacy" },
  ping: { ...HOP, ...SAFE, era: "legacy" },
  "logging/setLevel": { ...HOP, era: "legacy" },
  "server/discover": { ...HOP, ...CACHEABLE, era: "modern" },
  "subscriptions/listen": { ...HOP, ...SAFE, era: "modern" },
  "resources/subscribe": SUBSCRIPTION,
  "resources/unsubscribe": SUBSCRIPTION,

  "tools/list": { ...LIST, items: "tools", staleAfter: "notifications/tools/list_changed" },
  "resources/list": { ...LIST, items: "resources", staleAfter: "notifications/resources/list_changed" },
  "resources/templates/list": {
    ...LIST,
    items: "resourceTemplates",
    staleAfter: "notifications/resources/list_changed",
  },
  "prompts/list": { ...LIST, items: "prompts", staleAfter: "notifications/prompts/list_changed" },

  "tools/call": { ...FORWARDED, target: "tool", param: "name", repeat: "unsafe", asks: true, becomesTask: true },
  "prompts/get": { ...FORWARDED, ...SAFE, target: "prompt", param: "name", asks: true },
  "resources/read": {
    ...FORWARDED,
    ...CACHEABLE,
    target: "resource",
    param: "uri",
    asks: true,
    // An update may name a part of a resource, so all resources that were read are outdated.
    staleAfter: "notifications/resources/updated",
  },
  "completion/complete": { ...FORWARDED, ...SAFE, target: "completion", param: "ref" },

  "tasks/get": { ...TASK, repeat: "safe" },
  "tasks/update": { ...TASK, era: "modern" },
  "tasks/cancel": TASK,
  // A server of 2025-11-25 asks its questions while the client waits here.
  "tasks/result": { ...TASK, ...SAFE, era: "legacy", route: "hop", asks: true },
  "tasks/list": { ...TASK, ...SAFE, era: "legacy", route: "hop", param: undefined, items: "tasks" },

  "roots/list": INPUT,
  "sampling/createMessage": INPUT,
  "elicitation/create": INPUT,

  "skills/list": { ...HOP, ...SAFE, era: "modern", route: "extension", target: "method", items: "skills" },
};

/** Unknown methods, such as those of extensions and later revisions, have no traits. */
const TRAITS: ReadonlyMap<string, MethodTraits> = new Map(Object.entries(METHODS));

/** Whether only the next neighbour answers it, so that it is never forwarded. */
export function isOneHop(method: string): boolean {
  const route = TRAITS.get(method)?.route;
  return route === "hop" || route === "input";
}

/** Whether a server uses it to ask the user or the user's model. */
export function isInputMethod(method: string): boolean {
  return TRAITS.get(method)?.route === "input";
}

/** Whether a gateway understands it and forwards it. */
export function isForwarded(method: string): boolean {
  return TRAITS.get(method)?.route === "server";
}

/** Whether the newest revision no longer has it. */
export function isRemoved(method: string): boolean {
  return TRAITS.get(method)?.era === "legacy";
}

/** Whether older revisions do not have it. Extensions go with any revision. */
export function isAdded(method: string): boolean {
  const traits = TRAITS.get(method);
  return traits?.era === "modern" && traits.route !== "extension";
}

/** Whether its result may be `input_required`. */
export function isInteractive(method: string): boolean {
  const traits = TRAITS.get(method);
  return traits !== undefined && traits.asks && traits.era !== "legacy";
}

/** Whether a legacy server may send its own requests before it answers. */
export function mayAskMeanwhile(method: string): boolean {
  return TRAITS.get(method)?.asks === true;
}

/** Whether repeating it cannot have an effect twice. */
export function isRepeatable(method: string): boolean {
  const repeat = TRAITS.get(method)?.repeat;
  return repeat === "safe" || repeat === "cacheable";
}

/** Whether its result says how long it stays valid. */
export function isCacheable(method: string): boolean {
  return TRAITS.get(method)?.repeat === "cacheable";
}

export function canBecomeTask(method: string): boolean {
  return TRAITS.get(method)?.becomesTask === true;
}

export function targetKind(method: string): MethodTarget {
  return TRAITS.get(method)?.target ?? "method";
}

/** The parameter that the header `Mcp-Name` repeats, if any. */
export function namedMember(method: string): "name" | "uri" | "taskId" | undefined {
  const traits = TRAITS.get(method);
  return traits === undefined || traits.era === "legacy" || traits.param === "ref" ? undefined : traits.param;
}

/** The member of its result with the items of a list. */
export function itemsMember(method: string): string | undefined {
  return TRAITS.get(method)?.items;
}

/** The list that a method requests, if it requests one of the four. */
export function listRequestedBy(method: string): ListKind | undefined {
  const items = TRAITS.get(method)?.items;
  return items === "skills" || items === "tasks" ? undefined : items;
}

/** The method that requests a list. */
export const LIST_METHODS = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const satisfies Record<ListKind, Method>;

/** The methods whose earlier results a notification makes outdated. */
export function madeStaleBy(notification: string): readonly string[] {
  return STALE.get(notification) ?? NONE;
}

const NONE: readonly string[] = [];
const STALE = new Map<string, string[]>();
for (const [method, { staleAfter }] of TRAITS) {
  if (staleAfter) STALE.set(staleAfter, [...madeStaleBy(staleAfter), method]);
}
