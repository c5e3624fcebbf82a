import { defineCommand } from "../command/command.ts";
import { unknownSecret } from "./unknown-secret.ts";

/** nexus secrets remove github */
export const secretsRemove = defineCommand({
  usage: "nexus secrets remove <name>",
  description: "Entries that use it as ${secret:name} can no longer start.",
  words: { min: 1, max: 1 },
  options: {},
  examples: [
    ["nexus secrets remove github", "servers that need it fail at their next start"],
    ["nexus secrets remove github --json", "print the removed name as JSON"],
  ],

  async run({ words, out, surroundings, stateFolder }) {
    const [name = ""] = words;
    const { secretStore } = await import("../../host/servers/load-options.ts");
    const store = secretStore(surroundings, stateFolder);
    if (!(await store.remove(name))) throw await unknownSecret(name, store);
    if (out.json) out.value({ name });
    else out.line(`Removed the secret ${out.style("bold", name)}.`);
  },
});
