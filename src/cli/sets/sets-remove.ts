import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { defineCommand } from "../command/command.ts";
import { openOperated } from "../store/operated-store.ts";
import { SET_OPTIONS } from "./set-words.ts";

/** nexus sets remove support */
export const setsRemove = defineCommand({
  usage: "nexus sets remove <name>",
  description: `Removes a set. Gateways on the same database answer its address with 404 within a second, and end its sessions and streams. Its
servers and the keys that may use it stay.`,
  words: { min: 1, max: 1 },
  options: SET_OPTIONS,
  examples: [
    ["nexus sets remove support", "the address is unknown from now on"],
    ["nexus sets remove support --tenant shop --json", `{"name":"support","tenant":"shop","removed":true}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const { tenant = DEFAULT_TENANT } = options;
    await using store = await openOperated(context);
    await store.sets.remove(tenant, name);
    if (out.json) out.value({ name, tenant, removed: true });
    else out.line(`Removed the set "${name}" of the tenant "${tenant}".`);
  },
});
