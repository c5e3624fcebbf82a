/** `_meta` keys that the specification reserves. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

/** What the keys of Nexus begin with. */
const OWN = "dev.nexus/";

/** A result without what Nexus notes in it for its own parts. */
export function withoutOwnMeta<T extends { _meta?: Record<string, unknown> }>(result: T): T {
  if (!result._meta || !Object.keys(result._meta).some((key) => key.startsWith(OWN))) return result;
  const { _meta, ...others } = result;
  const kept = Object.entries(_meta).filter(([key]) => !key.startsWith(OWN));
  return { ...others, ...(kept.length > 0 && { _meta: Object.fromEntries(kept) }) } as T;
}

/** The caller's name for a server in the same process, so that it can distinguish callers. */
export const CALLER_META = "dev.nexus/caller";

/** Which state of a server's tools the caller has seen, for a server in the same process. Empty: it is not known. */
export const SEEN_META = "dev.nexus/seen";

/** In a list of tools: identifies this state of them. */
export const VERSION_META = "dev.nexus/version";

/** Identifies a request in logs, in audit records and at other servers. */
export const CORRELATION_META = "dev.nexus/correlationId";

/** In the definition of a tool that calls others: the argument that has the name of the other tool. */
export const CALLS_META = "dev.nexus/calls";

/** In the definition of a tool that finds others: the member of its structured content that lists them, by their servers. */
export const FINDS_META = "dev.nexus/finds";

/** In a request for the tools of a server in the same process: also those that are found by searching, with this in each. */
export const SEARCHED_META = "dev.nexus/searched";

/** In a call of a tool that finds or describes others, of a server in the same process: what its caller may know of. */
export const SHOWN_META = "dev.nexus/shown";

/** Tools of a server in the same process that find, describe and call its others. */
export const SEARCH_TOOLS = "search_tools";
export const DESCRIBE_TOOL = "describe_tool";
export const CALL_TOOL = "call_tool";
export const SEARCHING_TOOLS: readonly string[] = [SEARCH_TOOLS, DESCRIBE_TOOL, CALL_TOOL];

/** Extensions that this code knows. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** Error codes that only 2026-07-28 has. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** 2025-11-25: the call needs the user to visit a URL first. */
export const URL_ELICITATION_REQUIRED = -32042;
/** Before 2026-07-28; from then on `-32602`. */
export const RESOURCE_NOT_FOUND = -32002;
/** A legacy client's answer if the user refused a sampling request. */
export const USER_REJECTED = -1;
