import { defineCommand, SERVED } from "../command/command.ts";
import { openSecrets } from "./operated-secrets.ts";
import { unknownSecret } from "../../operations/secrets.ts";

/** nexus secrets remove github */
export const secretsRemove = defineCommand({
  usage: "nexus secrets remove <name>",
  description: "Entries that use it as ${secret:name} can no longer start.",
  words: { min: 1, max: 1 },
  options: SERVED,
  examples: [
    ["nexus secrets remove github", "servers that need it fail at their next start"],
    ["nexus secrets remove github --json", "print the removed name as JSON"],
  ],

  async run(context) {
    const { words, out } = context;
    const [name = ""] = words;
    await using state = await openSecrets(context);
    if (!(await state.secrets.remove(name))) throw await unknownSecret(name, state);
    if (out.json) out.value({ name });
    else out.line(`Removed the secret ${out.style("bold", name)}.`);
  },
});
