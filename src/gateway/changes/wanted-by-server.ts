import type { Interests } from "../../protocol/interests.ts";
import type { Host } from "../../host/host.ts";
import type { GatewayListenRequest } from "../names/view.ts";
import type { CallRunner } from "../upstream/call-runner.ts";
import { resolveFullUri } from "../names/names.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import { belongsTo, type TaskPlace } from "../names/task-ids.ts";

/** The interests of a caller in one server, in that server's names. */
export interface Wanted {
  resources: string[];
  /** The caller's id of a task, by the server's id. */
  tasks: Map<string, string>;
}

/** Maximum number of resources for one caller: legacy servers get a request for each. */
const MAX_WATCHED = 1_000;

export interface WantingParts {
  host: Host;
  calls: CallRunner;
  access: PrincipalAccess;
  /** Whether the principal may follow a task. */
  mayFollow: (task: TaskPlace) => Promise<boolean>;
}

/** The interests by server. Leaves out unknown names and what the principal may not use. */
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
  for (const uri of resources.slice(0, MAX_WATCHED)) {
    const isServer = (id: string) => host.find(id) !== undefined;
    const target = view.kind === "one" ? { server: view.server, own: uri } : resolveFullUri(uri, isServer);
    if (!target || !isServer(target.server)) continue;
    const { server, own } = target;
    if (access.hears(principal, server, own)) of(server).resources.push(own);
  }
  for (const id of tasks.slice(0, MAX_WATCHED)) {
    const task = calls.findTask(id, principal);
    if (!task || !belongsTo(view, task)) continue;
    if (await mayFollow(task)) of(task.server).tasks.set(task.taskId, id);
  }
  return wanted;
}
