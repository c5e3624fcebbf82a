import type { ApiKey } from "../../store/keep/api-keys.ts";
import { agoText } from "../../text/duration.ts";
import { writtenLimits } from "../../store/keep/request-limits.ts";
import { defineCommand } from "../command/command.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { limitsText } from "./limit-options.ts";
import { keyView } from "../../team/operate/key-operations.ts";
import { openOperated } from "../store/operated-store.ts";
import { TENANT_OPTIONS } from "./key-words.ts";

/** nexus keys list */
export const keysList = defineCommand({
  usage: "nexus keys list [--tenant NAME]",
  description:
    "Lists the keys of all tenants, or of one: id, name, tenant, role, what they allow, their limits, and their state. Never a key itself.",
  words: { min: 0, max: 0 },
  options: { ...TENANT_OPTIONS, tenant: { ...TENANT_OPTIONS.tenant, help: "only keys of this tenant" } },
  examples: [
    ["nexus keys list", "all keys, the oldest first"],
    ["nexus keys list --tenant shop --json", `{"items":[{"id":"…","name":"ci","tenant":"shop",…}]}`],
  ],

  async run(context) {
    const { out, options } = context;
    const { tenant } = options;
    await using store = await openOperated(context);
    const keys = await store.keys.list(tenant);
    if (tenant !== undefined && keys.length === 0) await store.tenants.require(tenant);
    if (out.json) return out.value({ items: keys.map(keyView) });
    for (const line of tableLines(out, keys.map(row))) out.line(line);
    if (keys.length === 0) out.note("There are no keys. Create one: nexus keys create NAME --allow PATTERN");
  },
});

function row(about: ApiKey): Cell[] {
  const { id, name, tenant, role, grants } = about;
  const rules = [...grants.allow, ...grants.deny.map((pattern) => `not ${pattern}`)];
  const limits = limitsText(writtenLimits(about.limits));
  const what = [...rules, ...(grants.readOnly ? ["read-only"] : []), ...(limits === "" ? [] : [limits])].join(", ");
  return [{ text: id }, { text: name }, { text: tenant }, { text: role }, stateOf(about), { text: what }];
}

function stateOf({ revokedAt, expiresAt, usedAt }: ApiKey): Cell {
  if (revokedAt !== undefined) return { text: `revoked ${agoText(revokedAt)}`, style: "red" };
  if (expiresAt !== undefined && expiresAt <= Date.now())
    return { text: `expired ${agoText(expiresAt)}`, style: "red" };
  return usedAt === undefined ? { text: "not used yet", style: "dim" } : { text: `used ${agoText(usedAt)}` };
}
