import { NexusError } from "../errors/nexus-error.ts";
import { isRecord, type Params } from "../protocol/json-rpc.ts";
import type { Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool } from "../protocol/mcp.ts";
import type { CallScope } from "./call-scope.ts";
import type { Conversation } from "./conversation.ts";
import type { ResponseCache } from "./response-cache.ts";

/** The lists as last read, until the server says that they changed. */
export interface KnownLists {
  tools?: Tool[];
  resources?: Resource[];
  resourceTemplates?: ResourceTemplate[];
  prompts?: Prompt[];
}

/** How a list is asked for, where its items stand in the answer, and what a server that has it declares. */
export const LISTS = {
  tools: { method: "tools/list", member: "tools", capability: "tools" },
  resources: { method: "resources/list", member: "resources", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", member: "resourceTemplates", capability: "resources" },
  prompts: { method: "prompts/list", member: "prompts", capability: "prompts" },
} as const satisfies Record<keyof KnownLists, { method: string; member: string; capability: keyof ServerCapabilities }>;

/** Every page of a list; nothing is asked of a server that does not declare it. */
export async function readList<K extends keyof KnownLists>(
  kind: K,
  { conversation, cache, scope }: { conversation: Conversation; cache: ResponseCache; scope: CallScope },
): Promise<Required<KnownLists>[K]> {
  const { method, member, capability } = LISTS[kind];
  const items: unknown[] = [];
  const declared = conversation.agreement.capabilities;
  if (declared && !declared[capability]) return items as Required<KnownLists>[K];
  const seen = new Set<unknown>();
  for (let params: Params | undefined; ;) {
    const cursor = params;
    const cached = scope.options.fresh ? undefined : await cache.find(method, cursor);
    const ask = async () => ({ result: await conversation.exchange(method, cursor, scope), cacheable: true });
    const page = cached ?? (await cache.load(method, cursor, ask));
    scope.touch();
    const found = page[member];
    if (!Array.isArray(found)) {
      throw new NexusError("PROTOCOL_VIOLATION", `The answer to ${method} has no "${member}"`, { raw: page });
    }
    if (!found.every(isRecord)) {
      throw new NexusError("PROTOCOL_VIOLATION", `"${member}" of ${method} holds something that is no object`, {
        raw: page,
      });
    }
    for (const item of found) items.push(item);
    // An empty cursor is a cursor; only a missing one ends the list.
    const next = page["nextCursor"];
    if (typeof next !== "string") return items as Required<KnownLists>[K];
    if (seen.has(next)) {
      throw new NexusError("PROTOCOL_VIOLATION", `${method} gives the same cursor twice and would never end`);
    }
    seen.add(next);
    params = { cursor: next };
  }
}

/** Drops what a notification makes stale; true if it makes anything so. */
export function forgetLists(known: KnownLists, method: string): boolean {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1];
  if (list === "resources") delete known.resourceTemplates;
  if (list) delete known[list as keyof KnownLists];
  return list !== undefined;
}
