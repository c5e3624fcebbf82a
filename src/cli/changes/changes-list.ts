import type { ChangeView } from "../../operations/changes.ts";
import { agoText } from "../../text/duration.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { tableLines } from "../output/table.ts";
import { CHANGES_OPTIONS, fullName, oncePerName, pendingOf } from "./changed-names.ts";
import { openTenant } from "../store/open-operations.ts";

const STYLES = { changed: "yellow", added: "green", removed: "red" } as const;

/** nexus mcp changes list */
export const changesList = defineCommand({
  usage: "nexus mcp changes list [--server ID]",
  description: `Lists tools, prompts and resources that are not as they were accepted: servers changed, added or removed them. What a server
lists first is accepted. Gateways notice changes when they read the lists of servers. Where a server is pinned, changed and
added things are neither listed nor used until they are accepted.`,
  words: { min: 0, max: 0 },
  options: { server: { type: "string", value: "ID", help: "only this server" }, ...CHANGES_OPTIONS },
  examples: [
    ["nexus mcp changes list", "what changed, one per line"],
    ["nexus mcp changes list --gateway https://gateway.example", "at this gateway, with the key in NEXUS_KEY"],
    [
      "nexus mcp changes list --server github --json",
      `{"items":[{"server":"github","kind":"tool","name":"search","what":"changed","since":"…"}]}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    await using asked = await openTenant(context);
    const { again } = asked;
    const pending = oncePerName(await pendingOf(asked, options.server));
    if (out.json) return out.value({ items: pending.map(forPrograms) });
    const rows = pending.map((each) => [
      { text: visible(fullName(each)) },
      { text: each.kind },
      { text: each.what, style: STYLES[each.what] },
      { text: agoText(Date.parse(each.since)) },
    ]);
    for (const line of tableLines(out, rows)) out.line(line);
    if (pending.length === 0) out.note("Nothing has changed.");
    else {
      out.note(`To see what is different: nexus mcp changes show NAME${again}`);
      out.note(`To accept it: nexus mcp changes accept NAME${again}`);
    }
  },
});

function forPrograms({ server, kind, name, what, since }: ChangeView): object {
  return { server, kind, name, what, since };
}
