import { unknownServer } from "../host/directory/unknown-name.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { boolean, choice, constant, json, list, map, record, text, type Infer } from "../format/form.ts";
import { definitionName, nounOf } from "../host/definitions/held-definition.ts";
import { changedAgain, sortKey, type PendingDefinition } from "../store/keep/definitions.ts";
import { answer, asItIs, listOf, PAGE, pageOf, TEXT, TEXT_OR_NULL } from "./forms.ts";
import { defineOperation } from "./operation.ts";
import { viewOf, viewsOf } from "./servers.ts";
import type { Services } from "./services.ts";
import { definitionDifferences, type DefinitionDifference } from "../host/definitions/definition-difference.ts";
import { isoTime } from "../text/duration.ts";

const TOOL = answer("Tool", {
  server: TEXT,
  name: TEXT,
  definition: map(json()).says("As the server lists it."),
  held: boolean().says("Whether it is hidden from callers until its change is accepted."),
});

const KIND = choice(["tool", "prompt", "resource", "template"]);
const WHAT = choice(["changed", "added", "removed"]);

const DEFINITION = answer("Definition", {
  server: TEXT,
  kind: KIND,
  name: TEXT,
  state: choice(["accepted", "changed", "added", "removed"]).says(
    "Whether it is as it was accepted, or what is different.",
  ),
});

const CHANGE = {
  id: TEXT,
  server: TEXT,
  kind: KIND,
  name: TEXT,
  what: WHAT,
  since: TEXT,
  forSome: boolean().says("Only callers with certain capabilities see it this way."),
  hash: TEXT_OR_NULL.says("Of what the server lists now; null if it lists nothing."),
};

const DIFFERENCE = record(
  { place: TEXT, what: WHAT, before: json().optional(), after: json().optional(), pointer: TEXT.says("JSON pointer.") },
  { open: true },
);

const CHANGE_VIEW = answer("Change", CHANGE);

/** What is told about a definition that is not as it was accepted. */
export type ChangeView = Infer<typeof CHANGE_VIEW>;

const CHANGE_DETAILS = answer("ChangeDetails", {
  ...CHANGE,
  accepted: json().says("The definition as it was accepted; null if it never was."),
  current: json().says("The definition as the server lists it now; null if it does not."),
  differences: list(DIFFERENCE),
});

export type ChangeDetails = Infer<typeof CHANGE_DETAILS>;

const OF_SERVER = record({ server: text({ empty: true, most: 200 }).says("Only this server.").optional(), ...PAGE });

const listTools = defineOperation({
  id: "listTools",
  tag: "tools",
  summary: "The tools that servers list, and their definitions",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/tools", status: 200 },
  command: "mcp tools",
  input: OF_SERVER,
  output: listOf("ToolList", TOOL),
  async handle(services, _actor, { tenant, server, ...page }) {
    await services.store.tenants.require(tenant);
    if (server !== undefined) await viewOf(services, { tenant, id: server });
    const tools = await services.gateway.useHost(tenant, (host) => {
      const shown = new Set(host.tools().map((each) => `${each.server}\n${each.tool.name}`));
      return host.servers().flatMap(({ id }) => {
        if (server !== undefined && id !== server) return [];
        const { tools: listed } = host.offered(id);
        const isHeld = ({ name, annotations }: (typeof listed)[number]) =>
          host.policy.allows(undefined, { kind: "tool", server: id, name, annotations }) &&
          !shown.has(`${id}\n${name}`);
        return listed.map((tool) => ({ server: id, name: tool.name, definition: { ...tool }, held: isHeld(tool) }));
      });
    });
    return pageOf(tools ?? [], page, { keyOf: (each) => `${each.server}\n${each.name}`, show: asItIs });
  },
});

const listDefinitions = defineOperation({
  id: "listDefinitions",
  tag: "changes",
  summary: "What is known of the tools, prompts, resources and templates of servers, by name",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/definitions", status: 200 },
  command: "mcp changes show {name}",
  input: OF_SERVER,
  output: listOf("DefinitionList", DEFINITION),
  async handle(services, _actor, { tenant, server: asked, ...page }) {
    await requireKnown(services, tenant, asked);
    const definitions = services.store.definitions(tenant);
    const servers = asked === undefined ? await definitions.servers() : [asked];
    const states = new Map((await definitions.pending(asked)).map((each) => [definitionName(each), each.what]));
    const named = new Map<string, NamedState>();
    for (const server of servers) {
      for (const { kind, name } of await definitions.names(server)) {
        const full = definitionName({ server, kind, name });
        named.set(full, { server, kind: nounOf(kind), name, state: states.get(full) ?? "accepted" });
      }
    }
    return pageOf([...named], page, { keyOf: ([full]) => full, show: ([, each]) => each });
  },
});

const listChanges = defineOperation({
  id: "listChanges",
  tag: "changes",
  summary: "Definitions that are not as they were accepted",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/changes", status: 200 },
  command: "mcp changes list",
  input: OF_SERVER,
  output: listOf("ChangeList", CHANGE_VIEW),
  handle: async (services, _actor, { tenant, server, ...page }) =>
    pageOf(await pendingOf(services, tenant, server), page, { keyOf: sortKey, show: shortView }),
});

const getChange = defineOperation({
  id: "getChange",
  tag: "changes",
  summary: "One change: the definition before and now, and what is different",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/changes/{id}", status: 200 },
  command: "mcp changes show {name}",
  output: CHANGE_DETAILS,
  async handle(services, _actor, { tenant, id }) {
    const found = (await pendingOf(services, tenant)).find((each) => each.id === id);
    if (found) return { ...shortView(found), ...changeDetails(found) };
    throw new NexusError("NAME_UNKNOWN", `There is no change "${id}"`, {
      hint: `"{listChanges}" lists the changes.`,
      mayHaveReached: false,
    });
  },
});

const acceptChanges = defineOperation({
  id: "acceptChanges",
  tag: "changes",
  summary: "Accept definitions as the servers list them now: all that are named, or none",
  access: "admin",
  http: { method: "POST", path: "/tenants/{tenant}/changes/accept", status: 200, fails: [409] },
  command: "mcp changes accept {name}",
  input: record({
    changes: list(record({ id: TEXT, hash: TEXT_OR_NULL }), { mostOverNetwork: 1000 })
      .says("Changes as they were read: one that has changed again is not accepted.")
      .optional(),
    server: TEXT.says("Everything of this server.").optional(),
    all: constant(true).says("Everything of all servers.").optional(),
  })
    .says("Exactly one of its members.")
    .named("Acceptance"),
  output: answer("Accepted", { accepted: list(TEXT).says("Ids of changes.") }),
  async handle(services, _actor, { tenant, changes, server, all }) {
    if ([changes, server, all].filter((way) => way !== undefined).length !== 1) {
      throw new NexusError("ARGUMENTS_INVALID", "Name exactly one of changes, server and all", {
        mayHaveReached: false,
      });
    }
    const pending = await pendingOf(services, tenant, server);
    const chosen = changes ? asRead(pending, changes) : pending;
    if (changes && chosen.length < changes.length) throw changedAgain();
    return { accepted: await services.store.definitions(tenant).accept(chosen, { together: true }) };
  },
});

/** All of them, in the order of the reference. */
export const CHANGES = { listTools, listDefinitions, listChanges, getChange, acceptChanges };

interface NamedState {
  server: string;
  kind: Infer<typeof KIND>;
  name: string;
  state: "accepted" | PendingDefinition["what"];
}

/** Throws NAME_UNKNOWN. Of a server that was removed, definitions are still known. */
async function requireKnown(services: Services, tenant: string, server: string | undefined): Promise<void> {
  await services.store.tenants.require(tenant);
  if (server === undefined) return;
  const known = await services.store.definitions(tenant).servers();
  if (known.includes(server)) return;
  const ids = (await viewsOf(services, tenant)).map(({ id }) => id);
  if (ids.includes(server)) return;
  const none = "No definitions are known yet: a gateway keeps them while it runs.";
  const all = [...new Set([...known, ...ids])];
  throw unknownServer(server, all, { none });
}

async function pendingOf(services: Services, tenant: string, server?: string): Promise<PendingDefinition[]> {
  await requireKnown(services, tenant, server);
  return services.store.definitions(tenant).pending(server);
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
  return { id, ...changeView(pending), forSome: isForSome, hash: hash ?? null };
}

/** What programs are told about a changed definition. */
function changeView({ server, kind, name, what, since }: PendingDefinition) {
  return { server, kind: nounOf(kind), name, what, since: isoTime(since) };
}

/** The same with both definitions and what is different between them. */
function changeDetails(pending: PendingDefinition) {
  const { accepted = null, current = null } = pending;
  return { ...changeView(pending), accepted, current, differences: differencesOf(pending) };
}

/** None for what was added or removed as a whole. */
function differencesOf({ kind, accepted, current, what }: PendingDefinition): DefinitionDifference[] {
  if (what !== "changed") return [];
  return definitionDifferences(kind, accepted, current).map(({ place, what: how, before, after, pointer }) => ({
    place,
    what: how,
    before,
    after,
    pointer,
  }));
}
