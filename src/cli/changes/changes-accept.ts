import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import type { Definitions, PendingDefinition } from "../../store/keep/definitions.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { openKnownStore } from "../store/open-store.ts";
import { CHANGES_OPTIONS, definitionsOf, findNamed, requireServer } from "./changed-names.ts";

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
    const ways = [words.length > 0, options.server !== undefined, options.all === true].filter(Boolean);
    if (ways.length !== 1) {
      throw wrongUsage(
        "Say what to accept: names, --server or --all",
        "For example: nexus mcp changes accept github.search",
      );
    }
    await using store = await openKnownStore(context);
    const definitions = await definitionsOf(store, options.tenant);
    const chosen = await choose(definitions, words, options.server);
    const accepted = await definitions.accept(chosen);
    const again = chosen.find(({ id }) => !accepted.includes(id));
    if (again) throw changedAgain(again);
    if (out.json) {
      return out.value({
        accepted: chosen.map(({ server, kind, name, what }) => ({ server, kind: nounOf(kind), name, what })),
      });
    }
    for (const each of chosen)
      out.line(`Accepted: ${visible(definitionName(each))} (${nounOf(each.kind)} ${each.what})`);
    if (chosen.length === 0) out.note("There is nothing to accept.");
  },
});

async function choose(
  definitions: Definitions,
  names: readonly string[],
  server: string | undefined,
): Promise<PendingDefinition[]> {
  if (names.length > 0) {
    const named = [];
    for (const name of new Set(names)) named.push(await findNamed(definitions, name));
    return named.flatMap(({ pending }) => pending);
  }
  if (server !== undefined) await requireServer(definitions, server);
  return definitions.pending(server);
}

function changedAgain(pending: PendingDefinition): NexusError {
  return new NexusError("DEFINITION_CHANGED", `${visible(definitionName(pending))} has just changed again`, {
    server: pending.server,
    hint: `See what is different now: nexus mcp changes show ${visible(definitionName(pending))}`,
    mayHaveReached: false,
  });
}
