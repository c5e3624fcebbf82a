import { defineCommand } from "../command/command.ts";
import { LIMIT_OPTIONS, limitsIn, limitsText, requireLimits } from "../keys/limit-options.ts";
import { openOperated, OPERATED_OPTIONS } from "../store/operated-store.ts";

/** nexus tenants limit shop --rate 100/s */
export const tenantsLimit = defineCommand({
  usage: "nexus tenants limit <name> [--rate 100/s] [--per-day 100000] [--concurrent 64] [--max-request 1MB]",
  description: `Changes the limits of a tenant: what all its callers together may use. The limits of each key apply also. The value "none" removes a
limit; limits that are not named stay. Every gateway on the same database applies them within a second. See nexus keys limit.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants limit shop --rate 100/s --per-day 100000", "for all keys of the tenant together"],
    ["nexus tenants limit default --concurrent none", "removes one limit"],
    [
      "nexus tenants limit shop --rate 100/s --json",
      `{"name":"shop","created":"…","limits":{"rate":"100/s"},"keys":2}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const change = requireLimits(limitsIn(options));
    await using store = await openOperated(context);
    const { TenantOperations } = await import("../../team/operate/tenant-operations.ts");
    const tenant = await new TenantOperations(store).setLimits(name, change);
    if (out.json) return out.value(tenant);
    const text = limitsText(tenant.limits);
    out.line(`Limits of the tenant "${name}": ${text === "" ? "none" : text}.`);
  },
});
