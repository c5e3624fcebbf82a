import { resolve } from "node:path";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { knownNames } from "./known-names.ts";
import { suggest } from "./suggestions.ts";

/** nexus complete-words -- mcp call gith */
export const completeWords = defineCommand({
  usage: "nexus complete-words [--next] -- <word>…",
  description: `
Used by the scripts of "nexus completion". Prints one line for each possible word at the cursor, with its description after
a tab, or ":files" or ":folders" if the shell should complete paths. The last word is the one at the cursor. Starts no
server, asks nothing, and ignores errors.`,
  options: { next: { type: "boolean", help: "the cursor is after the last word" } },
  examples: [["nexus complete-words -- mcp call github.", "names of the known tools of github"]],

  async run(context) {
    const { words, options, out, surroundings, stateFolder } = context;
    const current = options.next ? "" : (words.at(-1) ?? "");
    const before = options.next ? words : words.slice(0, -1);
    const listSecrets = async () => {
      const { secretStore } = await import("../../host/servers/load-options.ts");
      const { secrets } = await secretStore(surroundings, stateFolder).list();
      return secrets.map(({ name }) => name);
    };
    try {
      const found = await suggest({ words: before, current }, (config) => {
        const explicit = config === undefined ? undefined : resolve(config);
        return knownNames({ places: placesOf(context), stateFolder, explicit, listSecrets });
      });
      const suggestions = typeof found === "string" ? [{ value: `:${found}` }] : found;
      if (out.json) return out.value({ items: suggestions });
      for (const { value, description } of suggestions) {
        out.line(description === undefined ? value : `${value}\t${visible(description)}`);
      }
    } catch {
      // An error message would disturb the line in which the user pressed Tab.
    }
  },
});
