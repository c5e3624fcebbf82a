import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { visible } from "../../text/visible.ts";
import { askServers, exitCodeFor, failuresForPrograms, reportFailures } from "../command/ask-servers.ts";
import { isElsewhere } from "../command/command-line.ts";
import { asksAnyone, defineCommand, SERVED } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";

/** nexus mcp retry github */
export const retry = defineCommand({
  usage: "nexus mcp retry [server]",
  description: `
Forgets the remembered revision of the server, stops processes that killed commands left running, connects again and reads
the lists. Without a name: every server whose last connection failed.`,
  options: SERVED,
  examples: [
    ["nexus mcp retry github", "after a change: check whether it works now, and if not, why"],
    ["nexus mcp retry", "all servers that failed the last time"],
    ["nexus mcp retry github --timeout 2m", "wait longer for a slow start"],
    [
      "nexus mcp retry github --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
  ],

  async run(context) {
    if (isElsewhere(context)) {
      const { retryRemoteServers } = await import("../gateway/servers.ts");
      return retryRemoteServers(context);
    }
    const { out, signal, openServers } = context;
    const [id] = context.words;
    await using servers = await openServers(id === undefined ? asksAnyone : { asksFor: (server) => server === id });
    const chosen = id === undefined ? await failedLastTime(servers) : servers.pick(id);
    await servers.sweep();
    await Promise.all(chosen.map((definition) => servers.forgetEra(definition)));

    const { answers, failures } = await askServers(servers, chosen, {
      signal,
      ask: (client, definition) => readAll(servers, client, definition),
      onAnswer: (server, found) => {
        if (!out.json) out.line(`${out.style("green", "✓")} ${out.style("bold", server)}  ${described(found)}`);
      },
    });
    const [only] = failures;
    if (id !== undefined && only) throw only;
    if (out.json) {
      const items = answers.map(({ server, value }) => ({ server, ...value }));
      out.value({ items, errors: failuresForPrograms(failures) });
    } else if (chosen.length === 0) {
      out.line("No server failed the last time it was used. To connect again anyway, name a server.");
    }
    reportFailures(out, failures);
    return exitCodeFor(answers.length, failures);
  },
});

async function failedLastTime(servers: ServerSet): Promise<ServerDefinition[]> {
  const seen = await Promise.all(
    servers.pick(undefined).map(async (definition) => {
      return { definition, outcome: (await servers.sightings.find(definition))?.outcome };
    }),
  );
  return seen.filter(({ outcome }) => outcome?.kind === "failed").map(({ definition }) => definition);
}

type Found = Awaited<ReturnType<typeof readAll>>;

async function readAll(servers: ServerSet, client: Client, definition: ServerDefinition) {
  const startedAt = performance.now();
  const [tools, resources, templates, prompts] = await Promise.all([
    client.listTools(),
    client.listResources(),
    client.listResourceTemplates(),
    client.listPrompts(),
  ]);
  servers.saw(definition, {
    tools: tools.map(({ name }) => name),
    prompts: prompts.map(({ name }) => name),
  });
  return {
    era: client.era,
    protocolVersion: client.protocolVersion,
    serverInfo: client.serverInfo,
    tools: tools.length,
    resources: resources.length,
    templates: templates.length,
    prompts: prompts.length,
    ms: Math.round(performance.now() - startedAt),
  };
}

function described({ serverInfo, protocolVersion, era, tools, resources, templates, prompts, ms }: Found): string {
  const name = serverInfo ? `${visible(`${serverInfo.name} ${serverInfo.version}`)}, ` : "";
  const lists = `tools ${tools}, resources ${resources}, templates ${templates}, prompts ${prompts}`;
  return `${name}${protocolVersion} (${era}) – ${lists}, read in ${ms} ms`;
}
