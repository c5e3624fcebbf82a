import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";

/** nexus mcp ping github */
export const ping = defineCommand({
  usage: "nexus mcp ping <server>",
  description:
    "Sends ping to a legacy server. Modern revisions have no ping, so a modern server receives server/discover.",
  words: { min: 0, max: 1 },
  options: { ...IN_PLACE, ...TENANT },
  examples: [
    ["nexus mcp ping github", "connect to a configured server and measure one answer"],
    ["nexus mcp ping --url http://127.0.0.1:3000/mcp", "the same for a server that is not configured"],
  ],

  async run(context) {
    const { words, out, signal } = context;
    await using servers = await context.openServers(asksAnyone);
    const definition = servers.pickOnly(words);
    const client = await servers.connect(definition, { signal });
    const startedAt = performance.now();
    await client.ping({ signal });
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    if (out.json) out.value({ server: definition.id, ms, era: client.era, protocolVersion: client.protocolVersion });
    else out.line(`${definition.id} answered in ${ms} ms (${client.protocolVersion}, ${client.era})`);
  },
});
