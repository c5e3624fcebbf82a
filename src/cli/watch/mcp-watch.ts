import { NexusError } from "../../errors/nexus-error.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { ChangeWatcher } from "./change-watcher.ts";
import { changeLines } from "./change-lines.ts";
import { allowedTools, requireAllowed } from "../command/entry-rules.ts";

/** nexus mcp watch docs file:///notes.txt */
export const watch = defineCommand({
  usage: "nexus mcp watch <server> [uri]… [--read] [--count N]",
  description: `Shows changes of the server's lists of tools, prompts and resources, and updates of the named resources, one per line,
until Ctrl-C or the end of the connection. With --json, one object per line.`,
  words: { min: 0, max: 100 },
  options: {
    ...IN_PLACE,
    ...TENANT,
    read: { type: "boolean", help: "read updated resources and show their first lines" },
    count: { type: "string", value: "N", help: "stop after N changes" },
  },
  examples: [
    ["nexus mcp watch github", "watch the lists of tools, prompts and resources"],
    ["nexus mcp watch docs file:///notes.txt --read", "watch a resource and show its first lines"],
    ["nexus mcp watch docs --count 1 && make", "wait for one change, then continue"],
    ["nexus mcp watch docs --json | jq -r .kind", "print one JSON object per change"],
  ],

  async run(context) {
    const { words, options, out, signal } = context;
    const count = countOf(options.count);
    await using servers = await context.openServers(asksAnyone);
    const { definition, rest: uris } = servers.pickFirst(words);
    const { id: server } = definition;
    for (const uri of uris) await requireAllowed(servers, { kind: "subscription", server, uri });
    const client = await servers.connect(definition, { signal });
    await using watcher = new ChangeWatcher(client, {
      uris,
      reads: options.read === true,
      allowed: (tools) => allowedTools(servers, server, tools),
      where: servers.wordsFor(server),
      signal,
    });
    const accepted = await watcher.open();
    out.note(`Watching ${definition.id}: ${accepted.join(", ")}. Press Ctrl-C to stop.`);
    let seen = 0;
    for await (const change of watcher.changes()) {
      if (out.json) out.value(change);
      else for (const line of changeLines(change, out)) out.line(line);
      if (change.kind !== "interrupted" && change.kind !== "restored") seen++;
      if (seen === count) return;
    }
    throw new NexusError("CANCELLED", "Interrupted");
  },
});

function countOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count > 0) return count;
  throw wrongUsage(`--count "${given}" is not a number of changes`, "Use --count 1, or omit it to watch until Ctrl-C.");
}
