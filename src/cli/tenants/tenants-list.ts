import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import { tableLines } from "../output/table.ts";
import { openKnownStore } from "../store/open-store.ts";

/** nexus tenants list */
export const tenantsList = defineCommand({
  usage: "nexus tenants list",
  description: "Lists the tenants of the gateway's database and how many usable keys each has.",
  words: { min: 0, max: 0 },
  options: DATABASE_OPTION,
  examples: [
    ["nexus tenants list", "one tenant per line"],
    ["nexus tenants list --json", `{"items":[{"name":"default","created":"…","keys":2}]}`],
  ],

  async run(context) {
    const { out } = context;
    await using store = await openKnownStore(context);
    const [tenants, keys] = await Promise.all([store.tenants.list(), store.keys.list()]);
    const usable = keys.filter(
      ({ revokedAt, expiresAt = Infinity }) => revokedAt === undefined && expiresAt > Date.now(),
    );
    const items = tenants.map(({ name, createdAt }) => ({
      name,
      created: new Date(createdAt).toISOString(),
      keys: usable.filter(({ tenant }) => tenant === name).length,
    }));
    if (out.json) return out.value({ items });
    const rows = items.map(({ name, keys: count }) => [
      { text: name },
      { text: count === 1 ? "1 key" : `${count} keys` },
    ]);
    for (const line of tableLines(out, rows)) out.line(line);
  },
});
