import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { CHANGES, type ChangeView } from "../../operations/changes.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { CHANGES_OPTIONS, findNamed, fullName, oncePerName, pendingHash, pendingOf } from "./changed-names.ts";
import { openTenant, type TenantOperations } from "../store/open-operations.ts";

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
    await using asked = await openTenant(context);
    const { chosen, unchanged } = await choose(asked, words, options.server);
    const [first] = chosen;
    if (first && options.hash !== undefined && options.hash !== pendingHash(chosen))
      throw changedAgain(first, asked.again);
    const ids = new Set(await accept(asked, chosen));
    const accepted = chosen.filter(({ id }) => ids.has(id));
    const other = chosen.find(({ id }) => !ids.has(id));
    if (!other || accepted.length > 0) tellAccepted(out, accepted);
    for (const name of unchanged) out.note(`${visible(name)} has not changed: there is nothing to accept.`);
    if (chosen.length === 0 && unchanged.length === 0) out.note("There is nothing to accept.");
    if (other) throw changedAgain(other, asked.again);
  },
});

/** The most that an operation accepts at once. */
const AT_ONCE = 1000;

/** Returns the ids of those that were accepted: one that has changed again is not. */
async function accept(asked: TenantOperations, pending: readonly ChangeView[]): Promise<string[]> {
  const accepted: string[] = [];
  for (let at = 0; at < pending.length; at += AT_ONCE) {
    accepted.push(...(await acceptSome(asked, pending.slice(at, at + AT_ONCE))));
  }
  return accepted;
}

/** All or none of them are accepted at once: those that have changed again are left out. */
async function acceptSome(asked: TenantOperations, pending: readonly ChangeView[]): Promise<string[]> {
  if (pending.length === 0) return [];
  const { client, tenant } = asked;
  const changes = pending.map(({ id, hash }) => ({ id, hash }));
  try {
    return (await client.call(CHANGES.acceptChanges, { tenant, changes })).accepted;
  } catch (error) {
    if (asNexusError(error).code !== "DEFINITION_CHANGED") throw error;
    const now = new Map((await pendingOf(asked)).map(({ id, hash }) => [id, { hash }]));
    const same = pending.filter(({ id, hash }) => now.get(id)?.hash === hash);
    if (same.length === pending.length) throw error;
    return acceptSome(asked, same);
  }
}

function tellAccepted(out: Output, pending: readonly ChangeView[]): void {
  const accepted = oncePerName(pending);
  if (out.json) {
    const items = accepted.map(({ server, kind, name, what }) => ({ server, kind, name, what }));
    return out.value({ accepted: items });
  }
  for (const each of accepted) out.line(`Accepted: ${visible(fullName(each))} (${each.kind} ${each.what})`);
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
  asked: TenantOperations,
  names: readonly string[],
  server: string | undefined,
): Promise<{ chosen: ChangeView[]; unchanged: string[] }> {
  if (names.length > 0) {
    const named = [];
    for (const name of new Set(names)) named.push(await findNamed(asked, name));
    const unchanged = named.filter(({ pending }) => pending.length === 0).map((each) => fullName(each));
    return { chosen: named.flatMap(({ pending }) => pending), unchanged };
  }
  return { chosen: await pendingOf(asked, server), unchanged: [] };
}

function changedAgain(pending: ChangeView, again: string): NexusError {
  return new NexusError("DEFINITION_CHANGED", `${visible(fullName(pending))} has changed again, and was not accepted`, {
    server: pending.server,
    hint: `See what is different now: nexus mcp changes show ${quoteWord(visible(fullName(pending)))}${again}`,
    mayHaveReached: false,
  });
}
