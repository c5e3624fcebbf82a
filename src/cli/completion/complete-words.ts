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
Answers the scripts of "nexus completion": a line for each word that could stand where the cursor is, with its description
behind a tab; ":files" or ":folders" where the shell knows better. The last word is the one the cursor is in. It starts no
server, asks nothing, and is silent about mistakes.`,
  words: { min: 0, max: Infinity },
  options: { next: { type: "boolean", help: "the cursor stands after the last word" } },
  examples: [["nexus complete-words -- mcp call github.", "names of the tools that github was seen to have"]],

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
      // Somebody pressed Tab in the middle of a line: an error message would only tear it apart.
    }
  },
});
