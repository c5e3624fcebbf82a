import { toolTarget } from "../../host/directory/access-target.ts";
import type { Explanation } from "../../team/grants.ts";
import type { ExplainedServers } from "../../team/operate/explain-use.ts";
import { asksAnyone, defineCommand, type CommandContext } from "../command/command.ts";
import { openOperated } from "../store/operated-store.ts";
import { requireKey, TENANT_OPTIONS } from "./key-words.ts";

const DENIED = 8;

/** nexus keys explain 3fA9… github.search */
export const keysExplain = defineCommand({
  usage: "nexus keys explain <id> <server.tool>|set:NAME [--set NAME]",
  description: `Says whether a key may use a tool or a set, and which of its rules decides. With --set the tool is used in that set, whose own
rules also decide. Where something is read-only, the annotations of the tool are needed: then the server is connected. Exit
code 0: allowed; 8: not allowed.`,
  words: { min: 2, max: 2 },
  options: { set: { type: "string", value: "NAME", help: "the set in which the tool is used" }, ...TENANT_OPTIONS },
  examples: [
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search", "whether this key may call the tool, and why"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --set support", "the same in a set"],
    [
      "nexus keys explain 3fA9cK2mQx7Ytz01 github.search --gateway https://gateway.example",
      "as this gateway decides, with the key of an admin in NEXUS_KEY",
    ],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 set:support", "whether this key may use the set"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --json", `{"allowed":true,"reason":"…","rule":"allow github"}`],
  ],

  async run(context) {
    const { out, words } = context;
    const [id = "", full = ""] = words;
    const { allowed, reason, rule } = await explain(context, id, full);
    if (out.json) out.value({ allowed, reason, rule: rule ?? null });
    else {
      const by = rule === undefined ? "" : ` (${rule})`;
      out.line(`The key ${id} ${allowed ? "may" : "may not"} use ${full}: ${reason}${by}.`);
    }
    return allowed ? 0 : DENIED;
  },
});

type ExplainContext = CommandContext<{
  readonly set?: string | undefined;
  readonly tenant?: string | undefined;
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly database?: string | undefined;
}>;

/** A gateway explains by itself: it has the servers. */
async function explain(context: ExplainContext, id: string, full: string): Promise<Explanation> {
  const { set, tenant } = context.options;
  await using store = await openOperated(context);
  const key = await requireKey(store.keys, id, tenant);
  if (store.explain) return await store.explain(key, { full, set });
  const { explainUse } = await import("../../team/operate/explain-use.ts");
  return await explainUse(
    key,
    { full, set },
    { sets: store.sets, useServers: (use) => useServers(context, key.tenant, use) },
  );
}

async function useServers<T>(
  { openServers, signal }: ExplainContext,
  tenant: string,
  use: (servers: ExplainedServers) => Promise<T>,
): Promise<T> {
  await using servers = await openServers({ ...asksAnyone, tenant });
  const { directory } = servers;
  return await use({
    directory,
    async findTool(server, name) {
      const client = await servers.connect(directory.get(server), { signal });
      const tools = await client.listTools({ signal });
      const searched = client.searchedIn(tools);
      const found = [...tools, ...searched].find((tool) => tool.name === name);
      return found && toolTarget(server, found, searched);
    },
  });
}
