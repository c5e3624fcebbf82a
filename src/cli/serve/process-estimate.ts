import type { ServerStatus } from "../../host/host.ts";
import { pluralize } from "../output/amounts.ts";

/** How many child processes a gateway will run. */
export interface ProcessEstimate {
  /** Servers that are programs; each has one process for reading its lists. */
  servers: number;
  /** Of these, servers with one process for all clients. */
  shared: number;
  /** Further processes for each client, one for each of the other servers. */
  perClient: number;
  /** Of these, servers with a process for each call instead. */
  perCall: number;
  /** The maximum; absent where there is none. */
  limit?: number;
}

export function estimateProcesses(servers: readonly ServerStatus[], limit: number | undefined): ProcessEstimate {
  const programs = servers.filter(
    ({ state, definition: { entry } }) =>
      entry?.reach.kind === "stdio" && state.kind !== "disabled" && state.kind !== "waiting-for-trust",
  );
  const count = (wanted: string) => programs.filter(({ definition }) => definition.isolation === wanted).length;
  const [shared, perCall] = [count("shared"), count("call")];
  return {
    servers: programs.length,
    shared,
    perClient: programs.length - shared,
    perCall,
    ...(limit === undefined || limit === Infinity ? {} : { limit }),
  };
}

/** The estimate in one sentence; undefined where there are no processes. */
export function estimateWords({ servers, shared, perClient, limit }: ProcessEstimate): string | undefined {
  if (servers === 0) return undefined;
  const own = pluralize(servers, "process", "processes");
  const more = perClient === 0 ? "for all clients together" : `and up to ${perClient} more for each client`;
  const sharing = shared > 0 && perClient > 0 ? ` (${shared} shared by all)` : "";
  const most = limit === undefined ? "" : `; at most ${limit} at the same time`;
  return `Processes: ${own}${sharing} ${more}${most}`;
}
