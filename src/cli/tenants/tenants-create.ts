import { changedLimits } from "../../store/keep/request-limits.ts";
import { defineCommand } from "../command/command.ts";
import { LIMIT_OPTIONS, limitsIn } from "../keys/limit-options.ts";
import { openOperated, OPERATED_OPTIONS } from "../store/operated-store.ts";

/** nexus tenants create shop */
export const tenantsCreate = defineCommand({
  usage: "nexus tenants create <name> [--rate 100/s] [--per-day 100000]",
  description: `Creates a tenant: a group of callers with servers, keys and secrets of its own. Tenants see nothing of each other. The tenant
"default" always exists and has the servers of the configuration files. Limits are for all its callers together; nexus tenants limit changes them.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants create shop", "1 to 32 lower-case letters, digits and dashes"],
    ["nexus tenants create shop --rate 100/s", "all its callers together send at most 100 requests in a second"],
    ["nexus tenants create shop --json", `{"name":"shop","created":"…","limits":{},"keys":0}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const limits = changedLimits({}, limitsIn(options));
    await using store = await openOperated(context, { creates: true });
    const { TenantOperations } = await import("../../team/operate/tenant-operations.ts");
    const tenant = await new TenantOperations(store).create(words[0] ?? "", limits);
    const { name } = tenant;
    if (out.json) out.value(tenant);
    else
      out.advice(
        `Created the tenant "${name}". Add a server: nexus mcp add NAME --tenant ${name} -- COMMAND …, and a key: nexus keys create NAME --tenant ${name} --allow '*'`,
      );
  },
});
