import type { ApiKey, IssuedKey } from "../../store/keep/api-keys.ts";
import { idInKey } from "../../store/keep/key-text.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { Store } from "../../store/store.ts";
import { issuedKeyView, MAX_KEY_MS, unknownKey } from "../../team/operate/key-operations.ts";
import { parseDuration } from "../../text/duration.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { OPERATED_OPTIONS } from "../store/operated-store.ts";
import type { Output } from "../output/output.ts";

/** For every command about what belongs to one tenant. */
export const TENANT_OPTIONS = {
  tenant: { type: "string", value: "NAME", help: `the tenant of the key; default for a new one: ${DEFAULT_TENANT}` },
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** The key itself is the only line on stdout, so that a script can take it; everything else is a note. */
export function tellIssued(out: Output, { key, about }: IssuedKey, done: string): void {
  if (out.json) return out.value(issuedKeyView({ key, about }));
  out.note(done);
  out.line(key);
  out.note(`It is shown only once. Clients send it as a header: Authorization: Bearer ${key.slice(0, 8)}…`);
}

/** The key with this id, of the tenant where one is named. */
export async function requireKey(
  keys: Pick<Store["keys"], "find" | "list">,
  id: string,
  tenant: string | undefined,
): Promise<ApiKey> {
  refuseWholeKey(id);
  const key = await keys.find(id);
  if (key && (tenant === undefined || key.tenant === tenant)) return key;
  const others = await keys.list(tenant);
  throw unknownKey(
    id,
    others.filter(({ revokedAt }) => revokedAt === undefined),
  );
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

/** The milliseconds of an option such as `90d`. */
export function durationOption(name: string, given: string, leastMs: number): number {
  const ms = parseDuration(given);
  if (ms !== undefined && ms >= leastMs && ms <= MAX_KEY_MS && Number.isSafeInteger(ms)) return ms;
  const least = leastMs === 0 ? "" : ", at least one second";
  const hint = `Use a number with s, m, h or d${least}, at most 36500d: 90d, 12h.`;
  throw wrongUsage(`--${name} "${given}" is not a valid duration`, hint);
}
