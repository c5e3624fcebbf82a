import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { setTarget, type AccessTarget } from "../../host/directory/access-target.ts";
import type { CompiledSet } from "../../gateway/sets/compiled-set.ts";
import type { SetDefinition } from "../../gateway/sets/set-definition.ts";
import type { ApiKey } from "../../store/keep/api-keys.ts";
import type { KeptSet } from "../../store/keep/sets.ts";
import type { Store } from "../../store/store.ts";
import type { Explanation } from "../../team/grants.ts";
import { SILENT } from "../../text/logger.ts";
import { wrongUsage } from "../command/command-line.ts";
import { asksAnyone, DATABASE_OPTION, defineCommand, type CommandContext } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import { openKnownStore } from "../store/open-store.ts";
import { requireKey, TENANT_OPTIONS } from "./key-words.ts";

/** It uses the servers also, so it works here only. */
const EXPLAIN_OPTIONS = { tenant: TENANT_OPTIONS.tenant, ...DATABASE_OPTION };

const DENIED = 8;

/** nexus keys explain 3fA9… github.search */
export const keysExplain = defineCommand({
  usage: "nexus keys explain <id> <server.tool>|set:NAME [--set NAME]",
  description: `Says whether a key may use a tool or a set, and which of its rules decides. With --set the tool is used in that set, whose own
rules also decide. Where something is read-only, the annotations of the tool are needed: then the server is connected. Exit
code 0: allowed; 8: not allowed.`,
  words: { min: 2, max: 2 },
  options: { set: { type: "string", value: "NAME", help: "the set in which the tool is used" }, ...EXPLAIN_OPTIONS },
  examples: [
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search", "whether this key may call the tool, and why"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --set support", "the same in a set"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 set:support", "whether this key may use the set"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --json", `{"allowed":true,"reason":"…","rule":"allow github"}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [id = "", full = ""] = words;
    await using store = await openKnownStore(context);
    const key = await requireKey(store.keys, id, options.tenant);
    const explained = await explain(context, { key, full, store });
    const { allowed, reason, rule } = explained;
    if (out.json) out.value({ allowed, reason, rule: rule ?? null });
    else {
      const by = rule === undefined ? "" : ` (${rule})`;
      out.line(`The key ${id} ${allowed ? "may" : "may not"} use ${full}: ${reason}${by}.`);
    }
    return allowed ? 0 : DENIED;
  },
});

interface Explained {
  key: ApiKey;
  /** As it was written. */
  full: string;
  store: Store;
}

async function explain(context: ExplainContext, { key, full, store }: Explained): Promise<Explanation> {
  const { explainInSet, explainKey } = await import("../../team/grants.ts");
  const now = Date.now();
  const { set } = context.options;
  if (full.startsWith("set:")) {
    if (set !== undefined) throw wrongUsage(`${full} is itself a set`, "Remove --set, or name a tool.");
    const { name } = await store.sets.get(key.tenant, full.slice("set:".length));
    return explainKey(key, setTarget(name), now);
  }
  const inSet = set === undefined ? undefined : await compiledSet(await store.sets.get(key.tenant, set));
  await using servers = await context.openServers({ ...asksAnyone, tenant: key.tenant });
  const { definition, name } = namedTool(servers, full);
  const needed = key.grants.readOnly || inSet?.definition.readOnly === true;
  const annotated = needed ? await annotations(servers, definition, { name, signal: context.signal }) : undefined;
  const target: AccessTarget = { kind: "tool", server: definition.id, name, annotations: annotated };
  return inSet ? explainInSet(key, inSet.set, { target, now }) : explainKey(key, target, now);
}

type ExplainContext = CommandContext<{ readonly set?: string | undefined }>;

async function compiledSet({
  name,
  definition: text,
}: KeptSet): Promise<{ set: CompiledSet; definition: SetDefinition }> {
  const [{ CompiledSet: Compiled }, { parseSetDefinition }] = await Promise.all([
    import("../../gateway/sets/compiled-set.ts"),
    import("../../gateway/sets/set-definition.ts"),
  ]);
  const definition = parseSetDefinition(JSON.parse(text));
  return { set: new Compiled(name, definition, SILENT), definition };
}

/** The configured server that the name begins with, and the rest of the name. */
function namedTool(servers: ServerSet, full: string): { definition: ServerDefinition; name: string } {
  const named = servers.directory.withId(full);
  const definition = servers.directory.findOwners(named).find(({ id }) => named.startsWith(`${id}.`));
  if (!definition && servers.directory.find(named)) {
    throw wrongUsage(`"${full}" is a server, not a tool`, `Name a tool of it, as in ${full}.TOOL.`);
  }
  if (!definition) throw servers.directory.unknown(full.split(".")[0] ?? full);
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
