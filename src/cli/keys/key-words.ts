import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { OperationClient } from "../../operations/client.ts";
import { KEYS, LIMIT_CHANGE, unknownKey, type IssuedKeyView, type KeyView } from "../../operations/keys.ts";
import { idInKey } from "../../store/keep/key-text.ts";
import { parseByteSize, sizeText } from "../../text/byte-size.ts";
import { agoText } from "../../text/duration.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { inputOf, optionsOf } from "../command/operation-options.ts";
import type { Output } from "../output/output.ts";
import type { Cell } from "../output/table.ts";
import { OPERATED_OPTIONS } from "../store/open-operations.ts";

/** For every command about what belongs to one tenant. */
export const TENANT_OPTIONS = {
  tenant: { type: "string", value: "NAME", help: `the tenant of the key; default for a new one: ${DEFAULT_TENANT}` },
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** For commands about limits of a key or a tenant. */
export const LIMIT_OPTIONS = optionsOf(LIMIT_CHANGE, {
  rate: ["10/s", "requests per second (s), minute (m) or hour (h), from the first one on"],
  perDay: ["10000", "requests in 24 hours, from the first one on"],
  concurrent: ["8", "calls that run at the same time, in each process of the gateway"],
  maxRequest: ["64kB", "bytes of one request"],
});

/** What the options of a command line ask for. `none` removes a limit. */
export function limitsIn(options: { readonly [Name in keyof typeof LIMIT_OPTIONS]?: string | undefined }) {
  const size = options["max-request"];
  const bytes = size === undefined ? undefined : (parseByteSize(size) ?? size);
  return inputOf(LIMIT_CHANGE, { ...options, "max-request": bytes });
}

/** Throws where a command that changes limits names none. */
export function requireLimits<T extends object>(change: T): T {
  if (Object.keys(change).length > 0) return change;
  const names = Object.keys(LIMIT_OPTIONS).map((name) => `--${name}`);
  throw wrongUsage("No limit is named", `Use ${names.join(", ")}. The value "none" removes a limit.`);
}

/** Limits for people: `10/s, 10000 per day, 8 at once, requests up to 64.0 kB`. */
export function limitsText({ rate, perDay, concurrent, maxRequest }: KeyView["limits"]): string {
  return [
    ...(rate === undefined ? [] : [rate]),
    ...(perDay === undefined ? [] : [`${perDay} per day`]),
    ...(concurrent === undefined ? [] : [`${concurrent} at once`]),
    ...(maxRequest === undefined ? [] : [`requests up to ${sizeText(maxRequest)}`]),
  ].join(", ");
}

/** The key itself is the only line on stdout, so that a script can take it; everything else is a note. */
export function tellIssued(out: Output, issued: IssuedKeyView, done: string): void {
  if (out.json) return out.value(issued);
  const { key } = issued;
  out.note(done);
  out.line(key);
  out.note(`It is shown only once. Clients send it as a header: Authorization: Bearer ${key.slice(0, 8)}…`);
}

/** What a key may use and how often, in one line. */
export function rulesText({ allow, deny, readOnly, limits }: KeyView): string {
  const text = limitsText(limits);
  const rules = [...allow, ...deny.map((pattern) => `not ${pattern}`), ...(readOnly ? ["read-only"] : [])];
  return [...(allow.length === 0 ? ["nothing"] : []), ...rules, ...(text === "" ? [] : [text])].join(", ");
}

export function stateCell({ revoked, expires, lastUsed }: KeyView): Cell {
  if (revoked !== null) return { text: `revoked ${agoText(Date.parse(revoked))}`, style: "red" };
  if (expires !== null && Date.parse(expires) <= Date.now()) {
    return { text: `expired ${agoText(Date.parse(expires))}`, style: "red" };
  }
  return lastUsed === null ? { text: "not used yet", style: "dim" } : { text: `used ${agoText(Date.parse(lastUsed))}` };
}

/** The keys of the tenants that the caller manages, or of one; the oldest first. */
export async function keysOf(client: OperationClient, tenant: string | undefined): Promise<KeyView[]> {
  const lists = (tenant === undefined ? await client.managedTenants() : [tenant]).map((each) =>
    client.list(KEYS.listKeys, { tenant: each }),
  );
  const keys = (await Promise.all(lists)).flat();
  return keys.toSorted((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
}

/** The tenant and the id of a key, for operations on it. Without a tenant, it is looked for in those that the caller manages. */
export async function findKey(
  client: OperationClient,
  id: string,
  tenant: string | undefined,
): Promise<{ tenant: string; id: string }> {
  refuseWholeKey(id);
  if (tenant !== undefined) return { tenant, id };
  const keys = await keysOf(client, undefined);
  const found = keys.find((key) => key.id === id);
  if (found) return { tenant: found.tenant, id };
  throw unknownKey(
    id,
    keys.filter(({ revoked }) => revoked === null),
  );
}

/** What is told about a key after it was changed. */
export async function shownKey(client: OperationClient, named: { tenant: string; id: string }): Promise<KeyView> {
  return client.call(KEYS.getKey, named);
}

/** Throws for a whole key. Never repeats it: messages are kept in many places. */
export function refuseWholeKey(text: string): void {
  if (!text.startsWith("nxs_")) return;
  const id = idInKey(text);
  throw wrongUsage(
    "A whole key is secret and does not belong into a command line",
    id === undefined ? `Use its id: "nexus keys list" shows the ids of all keys.` : `Use its id: ${id}`,
  );
}
