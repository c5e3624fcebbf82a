import { NexusError } from "../errors/nexus-error.ts";
import { CompiledSet } from "../gateway/sets/compiled-set.ts";
import { resolveFullName } from "../gateway/names/names.ts";
import { parseSetDefinition } from "../gateway/sets/set-definition.ts";
import { setTarget, type AccessTarget } from "../host/directory/access-target.ts";
import type { ExplainedServers } from "./services.ts";
import type { ServerDirectory } from "../host/directory/server-directory.ts";
import type { ApiKey } from "../store/keep/api-keys.ts";
import type { KeptSet } from "../store/keep/sets.ts";
import type { Store } from "../store/store.ts";
import { SILENT } from "../text/logger.ts";
import { explainInSet, explainKey, type Explanation } from "../team/grants.ts";

/** What is asked about: `server.tool` or `set:NAME`, as it was written, and the set in which the tool is used. */
interface AskedUse {
  full: string;
  set?: string | undefined;
}

type UseServers = (use: (servers: ExplainedServers) => Promise<Explanation>) => Promise<Explanation>;

/** Says whether a key may use a tool or a set now, and why. Annotations are read only where they decide. */
export async function explainUse(
  key: ApiKey,
  { full, set }: AskedUse,
  { sets, useServers }: { sets: Pick<Store["sets"], "get">; useServers: UseServers },
): Promise<Explanation> {
  const now = Date.now();
  if (full.startsWith("set:")) {
    if (set !== undefined) throw invalid(`${full} is itself a set`, "Remove the set, or name a tool.");
    const { name } = await sets.get(key.tenant, full.slice("set:".length));
    return explainKey(key, setTarget(name), now);
  }
  const inSet = set === undefined ? undefined : compiledSet(await sets.get(key.tenant, set));
  return useServers(async ({ directory, findTool }) => {
    const { server, name } = namedTool(directory, full);
    // Tools of an API may lead to others, or be found by searching.
    const isApi = directory.find(server)?.entry?.reach.kind === "api";
    const isNeeded = isApi || key.grants.readOnly || inSet?.definition.readOnly === true;
    const listed = isNeeded ? await findTool(server, name) : undefined;
    const target: AccessTarget = listed ?? { kind: "tool", server, name };
    return inSet ? explainInSet(key, inSet.set, { target, now }) : explainKey(key, target, now);
  });
}

function compiledSet({ name, definition: text }: KeptSet) {
  const definition = parseSetDefinition(JSON.parse(text));
  return { set: new CompiledSet(name, definition, SILENT), definition };
}

/** The server that the name begins with, and the rest of the name: `server.tool`, or `server__tool` as it is at /mcp. */
function namedTool(directory: ServerDirectory, full: string): { server: string; name: string } {
  const named = directory.withId(full);
  const owner = directory.findOwners(named).find(({ id }) => named.startsWith(`${id}.`));
  if (owner) return { server: owner.id, name: named.slice(owner.id.length + 1) };
  if (directory.find(named)) {
    throw invalid(`"${full}" is a server, not a tool`, `Name a tool of it, as in ${full}.TOOL.`);
  }
  const listed = resolveFullName(full.replace(/^mcp__/, ""), directory);
  if (listed) return { server: listed.server, name: listed.own };
  throw directory.unknown(full.split(".")[0] ?? full);
}

function invalid(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}
