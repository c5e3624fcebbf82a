import { defineCommand } from "../command/command.ts";
import { tableLines } from "../output/table.ts";
import { limitsText } from "../keys/limit-options.ts";
import { openOperated, OPERATED_OPTIONS } from "../store/operated-store.ts";

/** nexus tenants list */
export const tenantsList = defineCommand({
  usage: "nexus tenants list",
  description: "Lists the tenants of the gateway's database and how many usable keys each has, and their limits.",
  words: { min: 0, max: 0 },
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants list", "one tenant per line"],
    ["nexus tenants list --json", `{"items":[{"name":"default","created":"…","limits":{},"keys":2}]}`],
  ],

  async run(context) {
    const { out } = context;
    await using store = await openOperated(context);
    const { TenantOperations } = await import("../../team/operate/tenant-operations.ts");
    const items = await new TenantOperations(store).list();
    if (out.json) return out.value({ items });
    const rows = items.map(({ name, keys: count, limits }) => {
      const text = limitsText(limits);
      const cells = [{ text: name }, { text: count === 1 ? "1 key" : `${count} keys` }];
      return text === "" ? cells : [...cells, { text }];
    });
    for (const line of tableLines(out, rows)) out.line(line);
  },
});
