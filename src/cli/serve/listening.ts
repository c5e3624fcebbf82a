import type { Gateway } from "../../gateway/index.ts";
import type { Operations } from "../../rest/operations.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import { estimateProcesses } from "./process-estimate.ts";
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
  const local = localUrl(url);
  const consoleUrl = operations?.consoleLink(local);
  if (out.json) {
    const servers = host.servers();
    const states = servers.map((server) => ({ id: server.id, state: server.state.kind }));
    return out.value({ url, port, auth, consoleUrl, servers: states, processes: estimate });
  }
  out.line(`listening on ${url}`);
  if (consoleUrl !== undefined) out.line(`console: ${consoleUrl}`);
  // Only people read the rest, which may come a little later.
  const { greeting } = await import("./greeting.ts");
  for (const line of greeting(local, { host, estimate, platform, needsKey: auth === "keys" })) out.line(visible(line));
  out.line();
  // The store of the demo is its own, so no command creates a key in it.
  const canNeedKeys = entrance.door !== undefined && (!options.demo || options.database !== undefined);
  const command = visible(`nexus keys create NAME --allow PATTERN${entrance.optionsAgain}`);
  if (auth === "keys") out.line(`Callers need an API key. To create one: ${command}`);
  else out.line(`${OPEN_TO_ALL}${canNeedKeys ? ` From the first key on, callers need one: ${command}` : ""}`);
  const { problem } = entrance;
  if (problem) out.note(visible(`Nothing is stored: ${problem.message}. ${problem.hint ?? ""}`));
}

const OPEN_TO_ALL = "There is no authentication: everybody on this machine can call it.";

/** From this machine, all of its addresses are one. */
function localUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, "http://127.0.0.1:");
}
