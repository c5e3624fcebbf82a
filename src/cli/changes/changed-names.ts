import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { definitionName, kindOf } from "../../host/definitions/held-definition.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import { CHANGES, type ChangeView } from "../../operations/changes.ts";
import { sha256 } from "../../text/digest.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import type { Options } from "../command/command.ts";
import { OPERATED_OPTIONS, type TenantOperations } from "../store/open-operations.ts";

export const CHANGES_OPTIONS = {
  tenant: {
    type: "string",
    value: "NAME",
    help: `the tenant of the servers; default: ${DEFAULT_TENANT}, or with --gateway that of the key`,
  },
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** What waits to be accepted. */
export function pendingOf({ client, tenant }: TenantOperations, server?: string): Promise<ChangeView[]> {
  return client.list(CHANGES.listChanges, { tenant, server });
}

/** What the user named, and what of it waits to be accepted. */
export interface NamedChange {
  server: string;
  kind: ChangeView["kind"];
  name: string;
  pending: ChangeView[];
}

const KINDS: Readonly<Record<string, ChangeView["kind"]>> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  templates: "template",
};

/** Finds `server.tool`, `server/prompts/NAME`, `server/resources/URI` or `server/templates/URI`; throws if it is unknown. */
export async function findNamed(asked: TenantOperations, text: string): Promise<NamedChange> {
  const { client, tenant, again } = asked;
  const [, server = "", tool, list = "", other] = FORM.exec(text) ?? [];
  const kind = tool === undefined ? KINDS[list] : "tool";
  const given = tool ?? other;
  if (kind === undefined || given === undefined) throw notAName(text, again);
  const known = await client.list(CHANGES.listDefinitions, { tenant, server });
  const ofKind = known.filter((each) => each.kind === kind);
  // Names with invisible characters cannot be typed, so they can be written as they are shown.
  const found = ofKind.find(({ name }) => name === given) ?? ofKind.find(({ name }) => visible(name) === given);
  if (!found) throw unknown(text, kind, { known, again });
  const { name } = found;
  const pending = (await pendingOf(asked, server)).filter((each) => each.kind === kind && each.name === name);
  return { server, kind, name, pending };
}

/** The name of a definition as commands take it. */
export function fullName({ server, kind, name }: Pick<NamedChange, "server" | "kind" | "name">): string {
  return definitionName({ server, kind: kindOf(kind) ?? "tools", name });
}

/** Each thing once: what is different for callers with certain capabilities is part of the same change. */
export function oncePerName(pending: readonly ChangeView[]): ChangeView[] {
  const byName = new Map<string, ChangeView>();
  for (const each of pending) {
    const name = fullName(each);
    const known = byName.get(name);
    const what = known && known.what !== each.what ? "changed" : each.what;
    byName.set(name, { ...(known ?? each), what, since: known && known.since < each.since ? known.since : each.since });
  }
  return [...byName.values()];
}

/**
 * Stands for what waits under one name: it is another one after the server has changed it again. Servers choose their
 * definitions, so it is too long for two of them to be made alike.
 */
export function pendingHash(pending: readonly Pick<ChangeView, "id" | "hash">[]): string {
  const all = pending.map(({ id, hash }) => `${id} ${hash ?? ""}`);
  return sha256(all.toSorted().join("\n")).slice(0, 32);
}

const FORM = /^([a-z][a-z0-9-]*)(?:\.([^]+)|\/(tools|prompts|resources|templates)\/([^]+))$/;

function notAName(text: string, again: string) {
  return unknownName("tool", text, {
    hint: `Write server.tool, server/prompts/NAME, server/resources/URI or server/templates/URI. "nexus mcp changes list${again}" lists the changes.`,
  });
}

function unknown(
  text: string,
  kind: ChangeView["kind"],
  { known, again }: { known: readonly Pick<NamedChange, "server" | "kind" | "name">[]; again: string },
) {
  const near = nearestName(
    text,
    known.map((each) => fullName(each)),
  );
  const meant = near === undefined ? "" : `Did you mean "${near}"? `;
  return unknownName(kind, text, { hint: `${meant}"nexus mcp changes list${again}" lists the changes.` });
}
