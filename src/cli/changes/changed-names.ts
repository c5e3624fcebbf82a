import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import { unknownName, unknownServer } from "../../host/directory/unknown-name.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { Definitions, PendingDefinition } from "../../store/keep/definitions.ts";
import type { Store } from "../../store/store.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import type { Options } from "../command/command.ts";
import { DATABASE_OPTION } from "../store/chosen-database.ts";

export const CHANGES_OPTIONS = {
  tenant: { type: "string", value: "NAME", help: `the tenant of the servers; default: ${DEFAULT_TENANT}` },
  ...DATABASE_OPTION,
} as const satisfies Options;

/** The definitions of the tenant's servers. Throws if there is no such tenant. */
export async function definitionsOf(store: Store, tenant = DEFAULT_TENANT): Promise<Definitions> {
  if (await store.tenants.find(tenant)) return store.definitions(tenant);
  throw new NexusError("NAME_UNKNOWN", `There is no tenant "${tenant}"`, {
    hint: `"nexus tenants list" lists all tenants.`,
    mayHaveReached: false,
  });
}

/** What the user named, and what of it waits to be accepted. */
export interface NamedChange {
  server: string;
  kind: ListKind;
  name: string;
  pending: PendingDefinition[];
}

const KINDS: Readonly<Record<string, ListKind>> = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  templates: "resourceTemplates",
};

/** Finds `server.tool`, `server/prompts/NAME`, `server/resources/URI` or `server/templates/URI`; throws if it is unknown. */
export async function findNamed(definitions: Definitions, text: string): Promise<NamedChange> {
  const [, server = "", tool, list = "", other] = FORM.exec(text) ?? [];
  const kind = tool === undefined ? KINDS[list] : "tools";
  const given = tool ?? other;
  if (kind === undefined || given === undefined) throw notAName(text);
  await requireServer(definitions, server);
  const known = await definitions.names(server);
  // Names with invisible characters cannot be typed, so they can be written as they are shown.
  const found = known.find((each) => each.kind === kind && (each.name === given || visible(each.name) === given));
  if (!found) throw unknown(text, kind, known);
  const { name } = found;
  const pending = (await definitions.pending(server)).filter((each) => each.kind === kind && each.name === name);
  return { server, kind, name, pending };
}

export async function requireServer(definitions: Definitions, server: string): Promise<void> {
  const servers = await definitions.servers();
  if (servers.includes(server)) return;
  const none = "No definitions are known yet: a gateway keeps them while it runs.";
  throw servers.length === 0 ? unknownName("server", server, { server, hint: none }) : unknownServer(server, servers);
}

/** A change for programs. */
export function changeForPrograms({ server, kind, name, what, since }: PendingDefinition) {
  return { server, kind: nounOf(kind), name, what, since: new Date(since).toISOString() };
}

const FORM = /^([a-z][a-z0-9-]*)(?:\.([^]+)|\/(tools|prompts|resources|templates)\/([^]+))$/;

function notAName(text: string): NexusError {
  return unknownName("tool", text, {
    hint: `Write server.tool, server/prompts/NAME, server/resources/URI or server/templates/URI. "nexus mcp changes list" lists the changes.`,
  });
}

function unknown(text: string, kind: ListKind, known: readonly Pick<NamedChange, "server" | "kind" | "name">[]) {
  const near = nearestName(
    text,
    known.map((each) => definitionName(each)),
  );
  const meant = near === undefined ? "" : `Did you mean "${near}"? `;
  return unknownName(nounOf(kind), text, { hint: `${meant}"nexus mcp changes list" lists the changes.` });
}
