import { defineCommand } from "../command/command.ts";
import { tableLines } from "../output/table.ts";
import { openOperated } from "../store/operated-store.ts";
import { setDefinition, setView } from "../../team/operate/set-view.ts";
import { contentText, SET_OPTIONS } from "./set-words.ts";

/** nexus sets list */
export const setsList = defineCommand({
  usage: "nexus sets list [--tenant NAME]",
  description: "Lists the sets of all tenants, or of one: name, tenant, and what they contain.",
  words: { min: 0, max: 0 },
  options: { ...SET_OPTIONS, tenant: { ...SET_OPTIONS.tenant, help: "only sets of this tenant" } },
  examples: [
    ["nexus sets list", "one set per line"],
    [
      "nexus sets list --tenant shop --json",
      `{"items":[{"name":"support","tenant":"shop","path":"/sets/support/mcp",…}]}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    const { tenant } = options;
    await using store = await openOperated(context);
    const sets = await store.sets.list(tenant);
    if (tenant !== undefined && sets.length === 0) await store.tenants.require(tenant);
    if (out.json) return out.value({ items: sets.map(setView) });
    const rows = sets.map(({ name, tenant: owner, definition }) => [
      { text: name },
      { text: owner },
      { text: contentText(setDefinition(definition)) },
    ]);
    for (const line of tableLines(out, rows)) out.line(line);
    if (sets.length === 0) out.note("There are no sets. Create one: nexus sets create NAME --allow PATTERN");
  },
});
