import type { Interests } from "../../protocol/interests.ts";
import type { Host } from "../../host/host.ts";
import type { GatewayListenRequest } from "../names/view.ts";
import type { CallRunner } from "../upstream/call-runner.ts";
import { resolveFullUri } from "../names/names.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import type { TaskPlace } from "../names/task-ids.ts";

/** What a caller wants to hear of one server, in that server's names. */
export interface Wanted {
  resources: string[];
  /** By the server's own id: the id that the caller knows. */
  tasks: Map<string, string>;
}

/** What one caller may listen to: legacy servers are asked for each resource by itself. */
const MAX_WATCHED = 1_000;

export interface WantingParts {
  host: Host;
  calls: CallRunner;
  access: PrincipalAccess;
  /** Whether the principal may follow a task. */
  mayFollow: (task: TaskPlace) => Promise<boolean>;
}

/** Whom to ask for what; names that lead nowhere are left out, and so is what the principal may not use. */
export async function wantedByServer(
  { resources = [], tasks = [] }: Interests,
  { view, principal }: Pick<GatewayListenRequest, "view" | "principal">,
  { host, calls, access, mayFollow }: WantingParts,
): Promise<Map<string, Wanted>> {
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
    if (!target || !servers.has(target.server)) continue;
    const { server, own } = target;
    if (access.hears(principal, server, own)) of(server).resources.push(own);
  }
  for (const id of tasks.slice(0, MAX_WATCHED)) {
    const task = calls.findTask(id, principal);
    if (!task || (view.kind === "one" && task.server !== view.server)) continue;
    if (await mayFollow(task)) of(task.server).tasks.set(task.taskId, id);
  }
  return wanted;
}
