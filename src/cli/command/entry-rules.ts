import { NexusError } from "../../errors/nexus-error.ts";
import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import {
  calledTarget,
  calledWith,
  callsOthers,
  decidedAs,
  toolTarget,
  type AccessTarget,
  type RequestTarget,
} from "../../host/directory/access-target.ts";
import { calledTool, type ToolUse } from "../../host/directory/called-tool.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { CALL_TOOL } from "../../protocol/meta.ts";
import { isSearched, isSearching, type ShownTools } from "../../protocol/shown-tools.ts";
import { requireAccepted } from "./pinned-lists.ts";
import type { ServerSet } from "./server-set.ts";

/** Throws if the server's entry does not allow a use. */
export async function requireAllowed({ directory }: ServerSet, target: RequestTarget): Promise<void> {
  try {
    await directory.policy.permit({ agent: undefined, target, signal: undefined });
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    const { origin } = directory.get(decidedAs(target).server);
    throw error.with({ source: origin, hint: `Change "tools.allow" or "tools.deny" of the server's entry.` });
  }
}

/** The target of a tool, by the list of its server in which it is; for an API also with what is found by searching. */
export function targetIn(
  definition: ServerDefinition,
  client: Client,
  items: readonly Tool[],
  tool: Tool,
): AccessTarget {
  return toolTarget(definition.id, tool, isApi(definition) ? client.searchedIn(items) : undefined);
}

/** The call of a tool; one that names another tool of its API is the call of that one. Throws if it is not allowed. */
export async function getCalled(
  servers: ServerSet,
  { definition, client, items }: { definition: ServerDefinition; client: Client; items: readonly Tool[] },
  use: ToolUse,
): Promise<ToolUse> {
  if (!isApi(definition)) return use;
  const all = [...items, ...client.searchedIn(items)];
  const { policy } = servers.directory;
  const called = calledTool(use.tool, use.arguments, {
    find: (name) => all.find((tool) => tool.name === name),
    names: () =>
      all.filter((tool) => policy.allows(undefined, targetIn(definition, client, items, tool))).map(({ name }) => name),
  });
  if (called.tool === use.tool) return use;
  const { name } = called.tool;
  await requireAllowed(servers, targetIn(definition, client, items, called.tool));
  await requireAccepted(servers, definition, { kind: "tools", client, items, name });
  return called;
}

/** What search_tools and describe_tool may show; undefined where everything is allowed. */
export function shownByEntry(
  servers: ServerSet,
  { definition, client, items }: { definition: ServerDefinition; client: Client; items: readonly Tool[] },
): ShownTools | undefined {
  const { policy } = servers.directory;
  if (!isApi(definition) || policy.isOpen("tool", definition.id)) return undefined;
  const allowed = [...items, ...client.searchedIn(items)].filter(
    (tool) => !isSearching(tool) && policy.allows(undefined, targetIn(definition, client, items, tool)),
  );
  return Object.fromEntries(
    allowed.map((tool) => [tool.name, { name: tool.name, call: isSearched(tool) ? CALL_TOOL : tool.name }]),
  );
}

function isApi({ entry }: ServerDefinition): boolean {
  return entry?.reach.kind === "api";
}

/** The same for the tool that a tool of a server of others says it calls. */
export async function requireAllowedInside(
  servers: ServerSet,
  definition: ServerDefinition,
  tool: Tool,
  args: unknown,
): Promise<void> {
  if (isApi(definition)) return;
  const listed = {
    kind: "tool" as const,
    server: definition.id,
    name: tool.name,
    annotations: tool.annotations,
    ...callsOthers(tool),
  };
  const inner = calledTarget(calledWith(listed, args));
  if (inner) await requireAllowed(servers, inner);
}

/** The tools that the server's entry allows. */
export function allowedTools<T extends { name: string }>(
  servers: ServerSet,
  server: string,
  tools: readonly T[],
): readonly T[] {
  const { directory } = servers;
  const definition = directory.find(server);
  return tools.filter((tool) => {
    const isWay = definition !== undefined && isApi(definition) && isSearching(tool);
    return directory.policy.allows(undefined, { kind: "tool", server, name: tool.name, isWay });
  });
}

/** A `tools/list` result without the tools that the entry does not allow. */
export function withAllowedTools(servers: ServerSet, server: string, result: Result): Result {
  const { tools } = result;
  if (!Array.isArray(tools) || servers.directory.policy.isOpen("tool", server)) return result;
  const named = tools.map((tool: unknown) => ({ ...(isRecord(tool) ? tool : {}), name: nameIn(tool), tool }));
  return { ...result, tools: allowedTools(servers, server, named).map(({ tool }) => tool) };
}

function nameIn(tool: unknown): string {
  return isRecord(tool) ? String(tool["name"]) : "";
}
