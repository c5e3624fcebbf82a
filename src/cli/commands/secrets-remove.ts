import { nearestName } from "../../errors/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus secrets remove github */
export const secretsRemove = defineCommand({
  usage: "nexus secrets remove <name>",
  description: "Entries that use it as ${secret:name} cannot start from then on.",
  words: { min: 1, max: 1 },
  options: {},
  examples: [
    ["nexus secrets remove github", "the next start of a server that needs it says that it is missing"],
    ["nexus secrets remove github --json", "the name that was removed, for scripts"],
  ],

  async run({ words, out, surroundings, stateFolder }) {
    const [name = ""] = words;
    const { secretStore } = await import("../../host/load-options.ts");
    const store = secretStore(surroundings, stateFolder);
    if (!(await store.remove(name))) {
      // One that cannot be read must not hide that this one is not there.
      const { names } = await store.list().catch(() => ({ names: [] }));
      throw unknown(name, names);
    }
    if (out.json) out.value({ name });
    else out.line(`Removed the secret ${out.style("bold", name)}.`);
  },
});

function unknown(name: string, names: readonly string[]): NexusError {
  const near = nearestName(name, names);
  const known =
    names.length === 0
      ? "None are stored; nexus secrets set NAME stores one."
      : `"nexus secrets list" shows which there are.`;
  return new NexusError("NAME_UNKNOWN", `There is no secret "${name}"`, {
    hint: near === undefined ? known : `Did you mean "${near}"? ${known}`,
    mayHaveReached: false,
  });
}
