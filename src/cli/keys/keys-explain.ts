import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";
import { asksAnyone, defineCommand } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import { openStore } from "../store/open-store.ts";
import { requireKey, TENANT_OPTIONS } from "./key-words.ts";

const DENIED = 8;

/** nexus keys explain 3fA9… github.search */
export const keysExplain = defineCommand({
  usage: "nexus keys explain <id> <server.tool>",
  description: `Says whether a key may use a tool, and which of its rules decides. A read-only key needs the annotations of the tool: then the
server is connected. Exit code 0: allowed; 8: not allowed.`,
  words: { min: 2, max: 2 },
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search", "whether this key may call the tool, and why"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --json", `{"allowed":true,"reason":"…","rule":"allow github"}`],
  ],

  async run(context) {
    const { out, words, signal, options } = context;
    const [id = "", full = ""] = words;
    await using store = await openStore(context);
    const key = await requireKey(store.keys, id, options.tenant);
    await using servers = await context.openServers({ ...asksAnyone, tenant: key.tenant });
    const { definition, name } = namedTool(servers, full);
    const { explainKey } = await import("../../team/grants.ts");
    const annotated = key.grants.readOnly ? await annotations(servers, definition, { name, signal }) : undefined;
    const target: AccessTarget = { kind: "tool", server: definition.id, name, annotations: annotated };
    const explained = explainKey(key, target, Date.now());
    const { allowed, reason, rule } = explained;
    if (out.json) out.value({ allowed, reason, rule: rule ?? null });
    else {
      const by = rule === undefined ? "" : ` (${rule})`;
      out.line(`The key ${id} ${allowed ? "may" : "may not"} use ${full}: ${reason}${by}.`);
    }
    return allowed ? 0 : DENIED;
  },
});

/** The configured server that the name begins with, and the rest of the name. */
function namedTool(servers: ServerSet, full: string): { definition: ServerDefinition; name: string } {
  const named = servers.directory.withId(full);
  const definition = servers.directory.findOwners(named).find(({ id }) => named.startsWith(`${id}.`));
  if (!definition) throw servers.directory.unknown(full);
  return { definition, name: named.slice(definition.id.length + 1) };
}

async function annotations(
  servers: ServerSet,
  definition: ServerDefinition,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<AccessTarget["annotations"]> {
  const client = await servers.connect(definition, { signal });
  const tools = await client.listTools({ signal });
  return tools.find((tool) => tool.name === name)?.annotations;
}
