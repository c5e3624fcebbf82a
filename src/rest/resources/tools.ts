import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import { changedAgain, sortKey, type PendingDefinition } from "../../store/keep/definitions.ts";
import { changeDetails, changeView } from "../../team/operate/change-view.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { Failed } from "../http/problem.ts";
import { defineOperation, type ApiContext } from "./api-context.ts";
import { viewOf } from "./servers.ts";

const Tool = z.object({
  server: z.string(),
  name: z.string(),
  definition: z.record(z.string(), z.unknown()).describe("As the server lists it."),
  held: z.boolean().describe("Whether it is hidden from callers until its change is accepted."),
});

const KIND = z.enum(["tool", "prompt", "resource", "template"]);

const Definition = z.object({
  server: z.string(),
  kind: KIND,
  name: z.string(),
  state: z
    .enum(["accepted", "changed", "added", "removed"])
    .describe("Whether it is as it was accepted, or what is different."),
});

const Change = z.object({
  id: z.string(),
  server: z.string(),
  kind: KIND,
  name: z.string(),
  what: z.enum(["changed", "added", "removed"]),
  since: z.string(),
  forSome: z.boolean().describe("Only callers with certain capabilities see it this way."),
  hash: z.string().nullable().describe("Of what the server lists now; null if it lists nothing."),
});

const ChangeDetails = Change.extend({
  accepted: z.unknown().describe("The definition as it was accepted; null if it never was."),
  current: z.unknown().describe("The definition as the server lists it now; null if it does not."),
  differences: z.array(
    z.object({
      place: z.string(),
      what: z.enum(["changed", "added", "removed"]),
      before: z.unknown().optional(),
      after: z.unknown().optional(),
      pointer: z.string().describe("JSON pointer."),
    }),
  ),
});

export const TOOL_SCHEMAS = {
  Tool,
  ToolList: listOf(Tool),
  Definition,
  DefinitionList: listOf(Definition),
  Change,
  ChangeList: listOf(Change),
  ChangeDetails,
  Acceptance: z
    .strictObject({
      changes: z
        .array(z.strictObject({ id: z.string(), hash: z.string().nullable() }))
        .max(1000)
        .optional()
        .describe("Changes as they were read: one that has changed again is not accepted."),
      server: z.string().optional().describe("Everything of this server."),
      all: z.literal(true).optional().describe("Everything of all servers."),
    })
    .describe("Exactly one of its members."),
  Accepted: z.object({ accepted: z.array(z.string()).describe("Ids of changes.") }),
};

const OF_SERVER = { server: z.string().max(200).optional().describe("Only this server."), ...PAGE_QUERY };

const listTools = defineOperation({
  id: "listTools",
  method: "GET",
  path: "/tenants/{tenant}/tools",
  tag: "tools",
  summary: "The tools that servers list, and their definitions",
  access: "operator",
  query: z.strictObject(OF_SERVER),
  answer: { status: 200, schema: TOOL_SCHEMAS.ToolList },
  async handle({ api, params: { tenant = "" }, query }) {
    await api.store.tenants.require(tenant);
    const { server } = query;
    if (server !== undefined) await viewOf(api, { tenant, id: server });
    const tools = await api.gateway.useHost(tenant, (host) => {
      const shown = new Set(host.tools().map((each) => `${each.server}\n${each.tool.name}`));
      return host.servers().flatMap(({ id }) => {
        if (server !== undefined && id !== server) return [];
        const { tools: listed } = host.offered(id);
        const isHeld = ({ name, annotations }: (typeof listed)[number]) =>
          host.policy.allows(undefined, { kind: "tool", server: id, name, annotations }) &&
          !shown.has(`${id}\n${name}`);
        return listed.map((tool) => ({ server: id, name: tool.name, definition: tool, held: isHeld(tool) }));
      });
    });
    return pageOf(tools ?? [], query, (each) => `${each.server}\n${each.name}`);
  },
});

const listDefinitions = defineOperation({
  id: "listDefinitions",
  method: "GET",
  path: "/tenants/{tenant}/definitions",
  tag: "changes",
  summary: "What is known of the tools, prompts, resources and templates of servers, by name",
  access: "operator",
  query: z.strictObject(OF_SERVER),
  answer: { status: 200, schema: TOOL_SCHEMAS.DefinitionList },
  async handle({ api, params: { tenant = "" }, query }) {
    await requireKnown(api, tenant, query.server);
    const definitions = api.store.definitions(tenant);
    const servers = query.server === undefined ? await definitions.servers() : [query.server];
    const states = new Map((await definitions.pending(query.server)).map((each) => [definitionName(each), each.what]));
    const named = new Map<string, NamedState>();
    for (const server of servers) {
      for (const { kind, name } of await definitions.names(server)) {
        const full = definitionName({ server, kind, name });
        named.set(full, { server, kind: nounOf(kind), name, state: states.get(full) ?? "accepted" });
      }
    }
    return pageOf(
      [...named],
      query,
      ([full]) => full,
      ([, each]) => each,
    );
  },
});

const listChanges = defineOperation({
  id: "listChanges",
  method: "GET",
  path: "/tenants/{tenant}/changes",
  tag: "changes",
  summary: "Definitions that are not as they were accepted",
  access: "operator",
  query: z.strictObject(OF_SERVER),
  answer: { status: 200, schema: TOOL_SCHEMAS.ChangeList },
  async handle({ api, params: { tenant = "" }, query }) {
    const pending = await pendingOf(api, tenant, query.server);
    return pageOf(pending, query, sortKey, shortView);
  },
});

const getChange = defineOperation({
  id: "getChange",
  method: "GET",
  path: "/tenants/{tenant}/changes/{id}",
  tag: "changes",
  summary: "One change: the definition before and now, and what is different",
  access: "operator",
  answer: { status: 200, schema: ChangeDetails },
  async handle({ api, params: { tenant = "", id = "" } }) {
    const found = (await pendingOf(api, tenant)).find((each) => each.id === id);
    if (found) return { ...shortView(found), ...changeDetails(found) };
    throw new NexusError("NAME_UNKNOWN", `There is no change "${id}"`, { mayHaveReached: false });
  },
});

const acceptChanges = defineOperation({
  id: "acceptChanges",
  method: "POST",
  path: "/tenants/{tenant}/changes/accept",
  tag: "changes",
  summary: "Accept definitions as the servers list them now: all that are named, or none",
  access: "admin",
  body: TOOL_SCHEMAS.Acceptance,
  answer: { status: 200, schema: TOOL_SCHEMAS.Accepted },
  fails: [409],
  async handle({ api, params: { tenant = "" }, body }) {
    const { changes, server, all } = body;
    if ([changes, server, all].filter((way) => way !== undefined).length !== 1) return NOT_ONE_WAY;
    const pending = await pendingOf(api, tenant, server);
    const chosen = changes ? asRead(pending, changes) : pending;
    if (changes && chosen.length < changes.length) throw changedAgain();
    return { accepted: await api.store.definitions(tenant).accept(chosen, { together: true }) };
  },
});

export const TOOL_OPERATIONS = [listTools, listDefinitions, listChanges, getChange, acceptChanges];

const NOT_ONE_WAY = new Failed({
  status: 400,
  code: "ARGUMENTS_INVALID",
  detail: "Name exactly one of changes, server and all",
});

interface NamedState {
  server: string;
  kind: z.infer<typeof KIND>;
  name: string;
  state: "accepted" | PendingDefinition["what"];
}

/** Throws NAME_UNKNOWN. Of a server that was removed, definitions are still known. */
async function requireKnown(api: ApiContext, tenant: string, server: string | undefined): Promise<void> {
  await api.store.tenants.require(tenant);
  if (server === undefined || (await api.store.definitions(tenant).servers()).includes(server)) return;
  await viewOf(api, { tenant, id: server });
}

async function pendingOf(api: ApiContext, tenant: string, server?: string): Promise<PendingDefinition[]> {
  await requireKnown(api, tenant, server);
  return api.store.definitions(tenant).pending(server);
}

/** Those that are still as the caller read them. */
function asRead(
  pending: readonly PendingDefinition[],
  wanted: readonly { id: string; hash: string | null }[],
): PendingDefinition[] {
  const hashes = new Map(wanted.map(({ id, hash }) => [id, hash]));
  return pending.filter(({ id, hash = null }) => hashes.get(id) === hash);
}

function shortView(pending: PendingDefinition) {
  const { id, isForSome, hash } = pending;
  return { id, ...changeView(pending), kind: nounOf(pending.kind), forSome: isForSome, hash: hash ?? null };
}
