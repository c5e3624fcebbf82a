import { durationText } from "../../text/duration.ts";
import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import { exitCodeFor, failuresForPrograms, reportFailures } from "../command/ask-servers.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT, type CommandContext } from "../command/command.ts";
import { factLines, type Fact } from "../output/facts.ts";
import { wrapped } from "../output/text-width.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

const INSTRUCTION_LINES = 4;

/** nexus mcp connect github */
export const connect = defineCommand({
  usage: "nexus mcp connect <server>",
  description: `Shows the server's name, the revision of MCP, its capabilities and the number of tools, resources and prompts. Lists that
the server does not declare are not requested. --verbose shows its instructions in full.`,
  words: { min: 0, max: 1 },
  options: { ...IN_PLACE, ...TENANT },
  examples: [
    ["nexus mcp connect github", "connect to a configured server"],
    ['nexus mcp connect --stdio "node server.js"', "start a server that is not configured"],
    [
      'nexus mcp connect --url https://example.com/mcp --header "Authorization: Bearer $TOKEN"',
      "connect to a server that requires credentials",
    ],
    ["nexus mcp connect github --json | jq .protocolVersion", "print only the revision"],
  ],

  async run(context) {
    const { words, out, signal } = context;
    const startedAt = performance.now();
    await using servers = await context.openServers(asksAnyone);
    const definition = servers.pickOnly(words);
    const client = await servers.connect(definition, { signal });
    const connectMs = performance.now() - startedAt;
    const { counts, names, failures } = await countLists(client, signal);
    servers.saw(definition, names);
    const ms = { connect: Math.round(connectMs), total: Math.round(performance.now() - startedAt) };
    const seen = { client, definition, counts, ms };
    if (out.json) out.value({ ...factsForPrograms(seen), errors: failuresForPrograms(failures) });
    else for (const line of factLines(out, titleOf(client, definition), factsForPeople(seen, context))) out.line(line);
    reportFailures(out, failures);
    return exitCodeFor(0, failures);
  },
});

/** The number of items of each declared list. */
type Counts = Partial<Record<"tools" | "resources" | "templates" | "prompts", number>>;

interface Seen {
  client: Client;
  definition: ServerDefinition;
  counts: Counts;
  ms: { connect: number; total: number };
}

async function countLists(
  client: Client,
  signal: AbortSignal,
): Promise<{ counts: Counts; names: { tools?: string[]; prompts?: string[] }; failures: NexusError[] }> {
  const { serverCapabilities: declared = {} } = client;
  const counts: Counts = {};
  const names: { tools?: string[]; prompts?: string[] } = {};
  const failures: NexusError[] = [];
  const count = async (kind: keyof Counts, list: () => Promise<readonly { name: string }[]>) => {
    if (!declared[kind === "templates" ? "resources" : kind]) return;
    try {
      const items = await list();
      counts[kind] = items.length;
      if (kind === "tools" || kind === "prompts") names[kind] = items.map(({ name }) => name);
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(asNexusError(error).with({ server: client.server }));
    }
  };
  await Promise.all([
    count("tools", () => client.listTools({ signal })),
    count("resources", () => client.listResources({ signal })),
    count("templates", () => client.listResourceTemplates({ signal })),
    count("prompts", () => client.listPrompts({ signal })),
  ]);
  return { counts, names, failures };
}

function titleOf({ serverInfo }: Client, { id }: ServerDefinition): string {
  const { name, title, version } = serverInfo ?? {};
  const words = [title ?? name ?? id, version, title === undefined || title === name ? undefined : `(${name})`];
  return visible(words.filter((word) => typeof word === "string").join(" "));
}

function factsForPeople({ client, definition, counts, ms }: Seen, { out, flags }: CommandContext<unknown>): Fact[] {
  const { era, protocolVersion, serverCapabilities = {}, instructions, pid } = client;
  const kind = definition.entry?.reach.kind ?? "stdio";
  const offered = (["tools", "resources", "templates", "prompts"] as const).flatMap((list) => {
    const number = counts[list];
    return number === undefined ? [] : [pluralize(number, list.slice(0, -1))];
  });
  const width = out.columns === undefined ? undefined : out.columns - 18;
  const prose = instructions === undefined ? [] : wrapped(instructions.trim(), width);
  const isShort = flags.verbose || prose.length <= INSTRUCTION_LINES;
  const shown = isShort ? prose : [...prose.slice(0, INSTRUCTION_LINES), "… (--verbose shows all of it)"];
  return [
    ["server", definition.origin ? [definition.id] : []],
    ["revision", [`${protocolVersion} (${era})`]],
    ["transport", [kind === "stdio" && pid !== undefined ? `stdio, process ${pid}` : kind]],
    ["can", wrapped(capabilityWords(serverCapabilities).join(", ") || "nothing", width)],
    ["offers", [offered.join(", ") || "nothing to list"]],
    ["says", shown],
    ["time", [`connected in ${durationText(ms.connect)}, ${durationText(ms.total)} with its lists`]],
  ];
}

function factsForPrograms({ client, definition, counts, ms }: Seen): Record<string, unknown> {
  const { era, protocolVersion, serverInfo, serverCapabilities, instructions } = client;
  return {
    server: definition.id,
    serverInfo,
    era,
    protocolVersion,
    transport: definition.entry?.reach.kind,
    capabilities: serverCapabilities,
    instructions,
    counts,
    ms,
  };
}

const MEMBERS: Readonly<Record<string, string>> = { listChanged: "reports changes", subscribe: "subscriptions" };

/** A server's capabilities in words: `tools (reports changes)`, `logging`, names of extensions. */
function capabilityWords(capabilities: ServerCapabilities): string[] {
  const { extensions, experimental, ...others } = capabilities;
  return [
    ...Object.entries(others)
      .filter(([, value]) => value !== undefined && value !== false)
      .map(withMembers),
    ...keysOf(extensions).map((name) => `${name} (extension)`),
    ...keysOf(experimental).map((name) => `${name} (experimental)`),
  ];
}

function withMembers([name, value]: [string, unknown]): string {
  const on = keysOf(value).filter((key) => isRecord(value) && value[key] !== false);
  return on.length === 0 ? name : `${name} (${on.map((key) => MEMBERS[key] ?? key).join(", ")})`;
}

function keysOf(value: unknown): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}
