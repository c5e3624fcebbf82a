import { defineCommand } from "../command.ts";

/** nexus secrets list */
export const secretsList = defineCommand({
  usage: "nexus secrets list",
  description: "Names only: values are never shown.",
  words: { min: 0, max: 0 },
  options: {},
  examples: [
    ["nexus secrets list", "a name on each line"],
    ["nexus secrets list --json", `{"items":[{"name":"github"}],"errors":[]}`],
  ],

  async run({ out, surroundings, stateFolder }) {
    const { secretStore } = await import("../../host/load-options.ts");
    const names = await secretStore(surroundings, stateFolder).list();
    if (out.json) return out.value({ items: names.map((name) => ({ name })), errors: [] });
    for (const name of names) out.line(name);
    if (names.length === 0) out.note("There are no secrets. Store one: nexus secrets set NAME");
  },
});
