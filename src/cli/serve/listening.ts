import { networkInterfaces } from "node:os";
import type { Gateway } from "../../gateway/index.ts";
import type { Operations } from "../../rest/operations.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import { estimateProcesses } from "./process-estimate.ts";
import { reachableUrls } from "./reachable-urls.ts";
import type { ServeDoor } from "./serve-door.ts";

interface Listening {
  platform: NodeJS.Platform;
  entrance: ServeDoor;
  options: StoreChoice;
  operations: Operations | undefined;
}

interface StoreChoice {
  readonly demo?: boolean | undefined;
  readonly database?: string | undefined;
}

/** Prints where the gateway listens, and what to do with it. */
export async function tellAddress(
  { url, port, host }: Gateway,
  out: Output,
  { platform, entrance, options, operations }: Listening,
): Promise<void> {
  const estimate = estimateProcesses(host.servers(), host.processes?.limits.processes);
  const auth = entrance.door?.isNeeded === true ? "keys" : "none";
  const { local, others } = reachableUrls(url, networkInterfaces);
  const consoleUrl = operations?.consoleLink(local);
  if (out.json) {
    const servers = host.servers();
    const states = servers.map((server) => ({ id: server.id, state: server.state.kind }));
    return out.value({ url: local, others, port, auth, consoleUrl, servers: states, processes: estimate });
  }
  out.line(`listening on ${local}`);
  if (others) out.line(others.length > 0 ? `for other machines: ${others.join(", ")}` : NO_NETWORK);
  if (consoleUrl !== undefined) out.line(`console: ${consoleUrl}`);
  // Only people read the rest, which may come a little later.
  const { greeting } = await import("./greeting.ts");
  for (const line of greeting(local, { host, estimate, platform, needsKey: auth === "keys" }))
    out.advice(visible(line));
  out.line();
  // The store of the demo is its own, so no command creates a key in it.
  const canNeedKeys = entrance.door !== undefined && (!options.demo || options.database !== undefined);
  const command = visible(`nexus keys create NAME --allow PATTERN${entrance.optionsAgain}`);
  if (auth === "keys") out.advice(`Callers need an API key. To create one: ${command}`);
  else out.advice(`${OPEN_TO_ALL}${canNeedKeys ? ` From the first key on, callers need one: ${command}` : ""}`);
  const { problem } = entrance;
  if (problem) out.note(visible(`Nothing is stored: ${problem.message}. ${problem.hint ?? ""}`));
}

const OPEN_TO_ALL = "There is no authentication: everybody on this machine can call it.";

const NO_NETWORK = "Other machines cannot reach it: this machine has no address in a network.";
