import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { SetItem } from "../../gateway/sets/set-definition.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { openOperated } from "../store/operated-store.ts";
import { setDefinition, setPath, setView } from "../../team/operate/set-view.ts";
import { contentText, itemText, SET_OPTIONS } from "./set-words.ts";

/** nexus sets show support */
export const setsShow = defineCommand({
  usage: "nexus sets show <name>",
  description: `Shows a set: its address, what it contains, and the tools and prompts that it shows in another way. Which tools its patterns
stand for depends on the servers; a client of the set sees them.`,
  words: { min: 1, max: 1 },
  options: SET_OPTIONS,
  examples: [
    ["nexus sets show support", "its patterns, names and fixed arguments"],
    ["nexus sets show support --json", `{"name":"support","allow":["github.search*"],"tools":{},…}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    await using store = await openOperated(context);
    const set = await store.sets.get(options.tenant ?? DEFAULT_TENANT, name);
    if (out.json) return out.value(setView(set));
    const definition = setDefinition(set.definition);
    const { description, tools = {}, prompts = {} } = definition;
    const rows: Cell[][] = [
      [{ text: "address" }, { text: setPath(name) }],
      [{ text: "tenant" }, { text: set.tenant }],
      ...(description === undefined ? [] : [[{ text: "description" }, { text: visible(description) }]]),
      [{ text: "contains" }, { text: contentText(definition) }],
      ...itemRows("tool", tools),
      ...itemRows("prompt", prompts),
    ];
    for (const line of tableLines(out, rows)) out.line(line);
  },
});

function itemRows(kind: string, items: Readonly<Record<string, SetItem>>): Cell[][] {
  return Object.entries(items).map(([key, item]) => [
    { text: visible(`${kind} ${key}`) },
    { text: visible(itemText(item)) },
  ]);
}
