import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import { openStore } from "../store/open-store.ts";

/** nexus tenants create shop */
export const tenantsCreate = defineCommand({
  usage: "nexus tenants create <name>",
  description: `Creates a tenant: a group of callers with servers, keys and secrets of its own. Tenants see nothing of each other. The tenant
"default" always exists and has the servers of the configuration files.`,
  words: { min: 1, max: 1 },
  options: DATABASE_OPTION,
  examples: [
    ["nexus tenants create shop", "1 to 32 lower-case letters, digits and dashes"],
    ["nexus tenants create shop --json", `{"name":"shop","created":"…"}`],
  ],

  async run(context) {
    const { out, words } = context;
    await using store = await openStore(context);
    const { name, createdAt } = await store.tenants.create(words[0] ?? "");
    if (out.json) out.value({ name, created: new Date(createdAt).toISOString() });
    else
      out.line(
        `Created the tenant "${name}". Add a server: nexus mcp add NAME --tenant ${name} -- COMMAND …, and a key: nexus keys create NAME --tenant ${name} --allow '*'`,
      );
  },
});
