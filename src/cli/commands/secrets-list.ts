import { NexusError } from "../../errors/nexus-error.ts";
import { failuresForPrograms } from "../ask-servers.ts";
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
    const { names, unreadable } = await secretStore(surroundings, stateFolder).list();
    const lost = unreadable === 0 ? [] : [damaged(unreadable)];
    if (out.json) return out.value({ items: names.map((name) => ({ name })), errors: failuresForPrograms(lost) });
    for (const name of names) out.line(name);
    for (const error of lost) out.note(`${out.onStderr("yellow", "warning:")} ${error.message}. ${error.hint}`);
    if (names.length === 0 && unreadable === 0) out.note("There are no secrets. Store one: nexus secrets set NAME");
  },
});

function damaged(count: number): NexusError {
  const what = count === 1 ? "One stored secret" : `${count} stored secrets`;
  return new NexusError("PERMISSION_DENIED", `${what} cannot be read, not even by name`, {
    phase: "config",
    hint: "Set again what is missing here.",
    mayHaveReached: false,
  });
}
