import { NexusError } from "../../errors/nexus-error.ts";
import {
  calledTarget,
  calledWith,
  callsOthers,
  decidedAs,
  type RequestTarget,
} from "../../host/directory/access-target.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { Tool } from "../../protocol/mcp.ts";
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

/** The same for the tool that another tool is asked to call. */
export async function requireAllowedInside(
  servers: ServerSet,
  server: string,
  tool: Tool,
  args: unknown,
): Promise<void> {
  const listed = {
    kind: "tool" as const,
    server,
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
  return tools.filter(({ name }) => servers.directory.policy.allows(undefined, { kind: "tool", server, name }));
}

/** A `tools/list` result without the tools that the entry does not allow. */
export function withAllowedTools(servers: ServerSet, server: string, result: Result): Result {
  const { tools } = result;
  if (!Array.isArray(tools) || servers.directory.policy.isOpen("tool", server)) return result;
  const named = tools.map((tool: unknown) => ({ name: isRecord(tool) ? String(tool["name"]) : "", tool }));
  return { ...result, tools: allowedTools(servers, server, named).map(({ tool }) => tool) };
}
