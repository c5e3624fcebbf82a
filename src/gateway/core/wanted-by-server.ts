import type { Interests } from "../../client/feed.ts";
import type { Host } from "../../host/host.ts";
import type { ListenRequest } from "../exchange.ts";
import type { Access } from "./access.ts";
import type { CallRunner } from "./call-runner.ts";
import { resolveFullUri } from "./names.ts";

/** What a caller wants to hear of one server, in that server's names. */
export interface Wanted {
  resources: string[];
  /** By the server's own id: the id that the caller knows. */
  tasks: Map<string, string>;
}

/** What one caller may listen to: legacy servers are asked for each resource by itself. */
const MAX_WATCHED = 1_000;

/** Whom to ask for what; names that lead nowhere are left out. */
export function wantedByServer(
  { resources = [], tasks = [] }: Interests,
  { view, principal }: Pick<ListenRequest, "view" | "principal">,
  { host, calls, access }: { host: Host; calls: CallRunner; access: Access },
): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const of = (server: string) => {
    const its: Wanted = wanted.get(server) ?? { resources: [], tasks: new Map() };
    wanted.set(server, its);
    return its;
  };
  const servers = new Map(host.servers().map((status) => [status.id, status]));
  for (const uri of resources.slice(0, MAX_WATCHED)) {
    const isServer = (id: string) => servers.has(id);
    const target = view.kind === "one" ? { server: view.server, own: uri } : resolveFullUri(uri, isServer);
    const status = target && servers.get(target.server);
    if (!status) continue;
    // What may not be read is not told of either.
    const thing = { server: status.id, kind: "resource", name: target.own } as const;
    if (access.allows(principal, thing, status)) of(status.id).resources.push(target.own);
  }
  for (const id of tasks.slice(0, MAX_WATCHED)) {
    const task = calls.findTask(id, principal);
    if (task && (view.kind === "all" || task.server === view.server)) of(task.server).tasks.set(task.taskId, id);
  }
  return wanted;
}
