import { NexusError } from "../../errors/nexus-error.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import type { PendingDefinition } from "../../store/keep/definitions.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import {
  CHANGES_OPTIONS,
  findNamed,
  oncePerName,
  openDefinitions,
  pendingHash,
  type AskedDefinitions,
} from "./changed-names.ts";

/** nexus mcp changes accept github.search */
export const changesAccept = defineCommand({
  usage: "nexus mcp changes accept <server.tool>… [--hash HASH] | --server ID | --all",
  description: `Accepts definitions as the servers list them now. Running gateways notice it within a second: what was held is listed and
can be used again. With the --hash that "nexus mcp changes show" prints, only what was shown is accepted. Other kinds:
server/prompts/NAME, server/resources/URI, server/templates/URI.`,
  words: { min: 0, max: Infinity },
  options: {
    hash: {
      type: "string",
      value: "HASH",
      help: "refuse a definition that has changed since it was shown; for one name",
    },
    server: { type: "string", value: "ID", help: "accept everything of this server" },
    all: { type: "boolean", help: "accept everything of all servers" },
    ...CHANGES_OPTIONS,
  },
  examples: [
    ["nexus mcp changes accept github.search", "this tool, as it is listed now"],
    [
      "nexus mcp changes accept github.search --hash 4c1f0e9b2a7d83655e0c9f1ab3d27c84",
      "the same, unless it has changed since it was shown",
    ],
    ["nexus mcp changes accept --server github", "everything that changed in this server"],
    [
      "nexus mcp changes accept github.search --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
    [
      "nexus mcp changes accept --all --json",
      `{"accepted":[{"server":"github","kind":"tool","name":"search","what":"changed"}]}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    if (options.hash !== undefined && words.length !== 1) {
      throw wrongUsage("--hash is for one name", "Use the command that nexus mcp changes show NAME prints.");
    }
    requireOneWay({ names: words.length > 0, "--server": options.server !== undefined, "--all": options.all === true });
    await using asked = await openDefinitions(context);
    const { chosen, unchanged } = await choose(asked, words, options.server);
    const [first] = chosen;
    if (first && options.hash !== undefined && options.hash !== pendingHash(chosen))
      throw changedAgain(first, asked.again);
    const ids = new Set(await asked.definitions.accept(chosen));
    const accepted = chosen.filter(({ id }) => ids.has(id));
    const other = chosen.find(({ id }) => !ids.has(id));
    if (!other || accepted.length > 0) tellAccepted(out, accepted);
    for (const name of unchanged) out.note(`${visible(name)} has not changed: there is nothing to accept.`);
    if (chosen.length === 0 && unchanged.length === 0) out.note("There is nothing to accept.");
    if (other) throw changedAgain(other, asked.again);
  },
});

function tellAccepted(out: Output, pending: readonly PendingDefinition[]): void {
  const accepted = oncePerName(pending);
  if (out.json) {
    const items = accepted.map(({ server, kind, name, what }) => ({ server, kind: nounOf(kind), name, what }));
    return out.value({ accepted: items });
  }
  for (const each of accepted)
    out.line(`Accepted: ${visible(definitionName(each))} (${nounOf(each.kind)} ${each.what})`);
}

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
  if (server !== undefined) await asked.definitions.requireServer(server);
  return { chosen: await asked.definitions.pending(server), unchanged: [] };
}

function changedAgain(pending: PendingDefinition, again: string): NexusError {
  return new NexusError(
    "DEFINITION_CHANGED",
    `${visible(definitionName(pending))} has changed again, and was not accepted`,
    {
      server: pending.server,
      hint: `See what is different now: nexus mcp changes show ${quoteWord(visible(definitionName(pending)))}${again}`,
      mayHaveReached: false,
    },
  );
}
