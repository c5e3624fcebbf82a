import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { PendingDefinition } from "../../store/keep/definitions.ts";
import type { OperatedDefinitions } from "../../operations/definition-operations.ts";
import { sha256 } from "../../text/digest.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import { isElsewhere } from "../command/command-line.ts";
import type { CommandContext, Options } from "../command/command.ts";
import { configAgain } from "../command/in-place.ts";
import { openKnownStore } from "../store/open-store.ts";
import { gatewayAgain, gatewayOptions, OPERATED_OPTIONS } from "../store/open-operations.ts";
import { tenantAgain } from "../store/tenant-state.ts";

export const CHANGES_OPTIONS = {
  tenant: {
    type: "string",
    value: "NAME",
    help: `the tenant of the servers; default: ${DEFAULT_TENANT}, or with --gateway that of the key`,
  },
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** What a command about changes is asked about. */
export interface AskedDefinitions extends AsyncDisposable {
  definitions: OperatedDefinitions;
  /** The options that select the same definitions, for commands to copy. */
  again: string;
}

type ChangesContext = CommandContext<{ readonly [K in keyof typeof CHANGES_OPTIONS]?: string | undefined }>;

/** The definitions of the tenant's servers, here or behind a gateway. Throws if there is no such tenant. */
export async function openDefinitions(context: ChangesContext): Promise<AskedDefinitions> {
  if (!isElsewhere(context)) return openStored(context);
  const { gateway, key, tenant, database } = context.options;
  const { RemoteDefinitions } = await import("../../rest/remote/remote-definitions.ts");
  const options = await gatewayOptions(context, { gateway, key, database });
  return {
    definitions: await RemoteDefinitions.open(options, tenant),
    again: gatewayAgain({ gateway, tenant }),
    async [Symbol.asyncDispose]() {},
  };
}

async function openStored(context: ChangesContext): Promise<AskedDefinitions> {
  const { tenant = DEFAULT_TENANT, database } = context.options;
  const again = (name?: string) => `${tenantAgain(name, database)}${configAgain(context.flags)}`;
  const store = await openKnownStore(context);
  try {
    if (!(await store.tenants.find(tenant))) throw unknownTenant(tenant, again());
    const { DefinitionOperations } = await import("../../operations/definition-operations.ts");
    return {
      definitions: new DefinitionOperations(store.definitions(tenant)),
      again: again(tenant),
      [Symbol.asyncDispose]: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function unknownTenant(tenant: string, again: string): NexusError {
  return new NexusError("NAME_UNKNOWN", `There is no tenant "${tenant}"`, {
    hint: `"nexus tenants list${again}" lists all tenants.`,
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
export async function findNamed({ definitions, again }: AskedDefinitions, text: string): Promise<NamedChange> {
  const [, server = "", tool, list = "", other] = FORM.exec(text) ?? [];
  const kind = tool === undefined ? KINDS[list] : "tools";
  const given = tool ?? other;
  if (kind === undefined || given === undefined) throw notAName(text, again);
  await definitions.requireServer(server);
  const known = await definitions.names(server);
  const ofKind = known.filter((each) => each.kind === kind);
  // Names with invisible characters cannot be typed, so they can be written as they are shown.
  const found = ofKind.find(({ name }) => name === given) ?? ofKind.find(({ name }) => visible(name) === given);
  if (!found) throw unknown(text, kind, { known, again });
  const { name } = found;
  const pending = (await definitions.pending(server)).filter((each) => each.kind === kind && each.name === name);
  return { server, kind, name, pending };
}

/** Each thing once: what is different for callers with certain capabilities is part of the same change. */
export function oncePerName(pending: readonly PendingDefinition[]): PendingDefinition[] {
  const byName = new Map<string, PendingDefinition>();
  for (const each of pending) {
    const name = definitionName(each);
    const known = byName.get(name);
    const what = known && known.what !== each.what ? "changed" : each.what;
    byName.set(name, { ...(known ?? each), what, since: Math.min(known?.since ?? each.since, each.since) });
  }
  return [...byName.values()];
}

/**
 * Stands for what waits under one name: it is another one after the server has changed it again. Servers choose their
 * definitions, so it is too long for two of them to be made alike.
 */
export function pendingHash(pending: readonly PendingDefinition[]): string {
  const all = pending.map(({ id, hash = "" }) => `${id} ${hash}`);
  return sha256(all.toSorted().join("\n")).slice(0, 32);
}

const FORM = /^([a-z][a-z0-9-]*)(?:\.([^]+)|\/(tools|prompts|resources|templates)\/([^]+))$/;

function notAName(text: string, again: string): NexusError {
  return unknownName("tool", text, {
    hint: `Write server.tool, server/prompts/NAME, server/resources/URI or server/templates/URI. "nexus mcp changes list${again}" lists the changes.`,
  });
}

function unknown(
  text: string,
  kind: ListKind,
  { known, again }: { known: readonly Pick<NamedChange, "server" | "kind" | "name">[]; again: string },
) {
  const near = nearestName(
    text,
    known.map((each) => definitionName(each)),
  );
  const meant = near === undefined ? "" : `Did you mean "${near}"? `;
  return unknownName(nounOf(kind), text, { hint: `${meant}"nexus mcp changes list${again}" lists the changes.` });
}
