import { RememberedDecisions, type RememberedDecision } from "../../agent/consent/remembered-decisions.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";

/** nexus consent forget github.create_issue */
export const consentForget = defineCommand({
  usage: "nexus consent forget <server.tool> | --all",
  description: "The agent asks again before it calls the tool. This also counts for chats that are running.",
  words: { min: 0, max: 1 },
  options: { all: { type: "boolean", help: "forget all decisions" } },
  examples: [
    ["nexus consent forget github.create_issue", "ask again before this tool"],
    ["nexus consent forget --all", "ask again before every tool with effects"],
  ],

  async run({ words: [name], options, out, stateFolder, surroundings }) {
    if ((name === undefined) === (options.all !== true)) {
      throw wrongUsage("Name one tool, or use --all", "nexus consent list shows the remembered decisions.");
    }
    const remembered = new RememberedDecisions({ folder: stateFolder, platform: surroundings.platform });
    const forgotten = await remembered.forget((decision) => name === undefined || nameOf(decision) === name);
    if (forgotten.length === 0 && name !== undefined) throw nothingToForget(name, await remembered.list());
    if (out.json) out.value({ forgotten: forgotten.map(({ server, tool }) => ({ server, tool })) });
    else if (forgotten.length === 0) out.note("No decisions are remembered.");
    else for (const each of new Set(forgotten.map(nameOf))) out.line(`Forgotten: ${out.style("bold", visible(each))}`);
  },
});

function nameOf({ server, tool }: RememberedDecision): string {
  return `${server}.${tool}`;
}

function nothingToForget(name: string, known: readonly RememberedDecision[]): NexusError {
  const near = nearestName(name, known.map(nameOf));
  const list = `"nexus consent list" lists all decisions.`;
  return new NexusError("NAME_UNKNOWN", `No decision about "${name}" is remembered`, {
    hint: near === undefined ? list : `Did you mean "${near}"? ${list}`,
    mayHaveReached: false,
  });
}
