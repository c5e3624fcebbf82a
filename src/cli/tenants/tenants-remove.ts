import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { removeTenantFolder } from "../../auth/tenant-folder.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { openOperated, OPERATED_OPTIONS } from "../store/operated-store.ts";

/** nexus tenants remove shop --yes */
export const tenantsRemove = defineCommand({
  usage: "nexus tenants remove <name> --yes",
  description:
    "Removes a tenant with its keys, servers and secrets. Gateways refuse its keys within a second and end its streams.",
  words: { min: 1, max: 1 },
  options: { yes: { type: "boolean", help: "remove it; nothing can bring it back but a backup" }, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants remove shop --yes", "the tenant and all that is its own"],
    ["nexus tenants remove shop --yes --json", `{"name":"shop","removed":true}`],
  ],

  async run(context) {
    const { out, words, options, stateFolder } = context;
    const [name = ""] = words;
    if (!options.yes) {
      throw wrongUsage(`This removes the tenant "${name}" with its keys and secrets`, "Repeat the command with --yes.");
    }
    await using store = await openOperated(context);
    const { unknownTenant } = await import("../../store/keep/tenants.ts");
    if (!(await store.tenants.remove(name))) throw unknownTenant(name);
    if (options.gateway === undefined) await removeTenantFolder(stateFolder, name, verboseLogger(out));
    if (out.json) out.value({ name, removed: true });
    else out.line(`Removed the tenant "${name}".`);
  },
});
