import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import type { PendingDefinition } from "../../store/keep/definitions.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { openKnownStore } from "../store/open-store.ts";
import {
  CHANGES_OPTIONS,
  definitionsOf,
  findNamed,
  oncePerName,
  requireServer,
  type AskedDefinitions,
} from "./changed-names.ts";

/** nexus mcp changes accept github.search */
export const changesAccept = defineCommand({
  usage: "nexus mcp changes accept <server.tool>… | --server ID | --all",
  description: `Accepts definitions as the servers list them now. Running gateways notice it within a second: what was held is listed and
can be used again. Other kinds: server/prompts/NAME, server/resources/URI, server/templates/URI.`,
  words: { min: 0, max: Infinity },
  options: {
    server: { type: "string", value: "ID", help: "accept everything of this server" },
    all: { type: "boolean", help: "accept everything of all servers" },
    ...CHANGES_OPTIONS,
  },
  examples: [
    ["nexus mcp changes accept github.search", "this tool, as it is listed now"],
    ["nexus mcp changes accept --server github", "everything that changed in this server"],
    [
      "nexus mcp changes accept --all --json",
      `{"accepted":[{"server":"github","kind":"tool","name":"search","what":"changed"}]}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    requireOneWay({ names: words.length > 0, "--server": options.server !== undefined, "--all": options.all === true });
    await using store = await openKnownStore(context);
    const asked = await definitionsOf(store, context);
    const { chosen, unchanged } = await choose(asked, words, options.server);
    const ids = await asked.definitions.accept(chosen);
    const other = chosen.find(({ id }) => !ids.includes(id));
    if (other) throw changedAgain(other, asked.again);
    const accepted = oncePerName(chosen);
    if (out.json) {
      return out.value({
        accepted: accepted.map(({ server, kind, name, what }) => ({ server, kind: nounOf(kind), name, what })),
      });
    }
    for (const each of accepted)
      out.line(`Accepted: ${visible(definitionName(each))} (${nounOf(each.kind)} ${each.what})`);
    for (const name of unchanged) out.note(`${visible(name)} has not changed: there is nothing to accept.`);
    if (accepted.length === 0 && unchanged.length === 0) out.note("There is nothing to accept.");
  },
});

/** Throws unless exactly one way to choose is used. */
function requireOneWay(ways: Readonly<Record<string, boolean>>): void {
  const used = Object.keys(ways).filter((way) => ways[way]);
  if (used.length === 1) return;
  const hint = "For example: nexus mcp changes accept github.search";
  if (used.length === 0) throw wrongUsage("Say what to accept: names, --server or --all", hint);
  throw wrongUsage(`${used.join(" and ")} exclude each other`, hint);
}

/** What is to be accepted, and the names of what has not changed. */
async function choose(
  asked: AskedDefinitions,
  names: readonly string[],
  server: string | undefined,
): Promise<{ chosen: PendingDefinition[]; unchanged: string[] }> {
  if (names.length > 0) {
    const named = [];
    for (const name of new Set(names)) named.push(await findNamed(asked, name));
    const unchanged = named.filter(({ pending }) => pending.length === 0).map((each) => definitionName(each));
    return { chosen: named.flatMap(({ pending }) => pending), unchanged };
  }
  if (server !== undefined) await requireServer(asked.definitions, server);
  return { chosen: await asked.definitions.pending(server), unchanged: [] };
}

function changedAgain(pending: PendingDefinition, again: string): NexusError {
  return new NexusError("DEFINITION_CHANGED", `${visible(definitionName(pending))} has just changed again`, {
    server: pending.server,
    hint: `See what is different now: nexus mcp changes show ${quoteWord(visible(definitionName(pending)))}${again}`,
    mayHaveReached: false,
  });
}
