import { RememberedDecisions } from "../../agent/consent/remembered-decisions.ts";
import { agoText } from "../../text/duration.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { showWhole } from "../output/table.ts";

/** nexus consent list */
export const consentList = defineCommand({
  usage: "nexus consent list",
  description: `
Lists the tools that the agent may always call without asking. A decision counts for one server, as it is configured now,
and for the definition of the tool as it was: if either changes, the agent asks again.`,
  options: {},
  examples: [
    ["nexus consent list", "one tool per line, with how long ago it was decided"],
    ["nexus consent list --json", `{"items":[{"server":"github","tool":"create_issue","decidedAt":"…"}],"errors":[]}`],
  ],

  async run({ out, stateFolder, surroundings }) {
    const remembered = new RememberedDecisions({ folder: stateFolder, platform: surroundings.platform });
    const decisions = await remembered.list();
    if (out.json) {
      const items = decisions.map(({ server, tool, decidedAt }) => ({ server, tool, decidedAt }));
      return out.value({ items, errors: [] });
    }
    const rows = decisions.map(({ server, tool, decidedAt }) => [
      visible(`${server}.${tool}`),
      { text: shownTime(decidedAt), style: "dim" as const },
    ]);
    showWhole(out, rows, "No decisions are remembered: the agent asks before each tool with effects.");
  },
});

/** A time that cannot be read, in a file that was edited, is shown as it is. */
function shownTime(decidedAt: string): string {
  const at = Date.parse(decidedAt);
  return Number.isNaN(at) ? visible(decidedAt) : agoText(at);
}
