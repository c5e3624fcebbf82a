import { spawn } from "node:child_process";

/** Sends a signal to a child and everything it started. On Windows every signal ends the tree. */
export function signalTree(pid: number, signal: NodeJS.Signals, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32") {
    // There is no group to signal: taskkill walks the tree of parents and children.
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => {});
    return true;
  }
  try {
    // Children are group leaders, so the negative pid reaches their whole group.
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

const POLL_MS = 20;

/** Ends what is left of a group whose leader has exited: SIGTERM, then SIGKILL after the grace. */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalTree(leader, "SIGTERM")) return;
  for (let waited = 0; waited < graceMs; waited += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!isGroupAlive(leader)) return;
  }
  signalTree(leader, "SIGKILL");
}

function isGroupAlive(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends children that are still running when this process exits without having closed them.
 * One listener for the whole process, present only while there are children.
 */
class LiveChildren {
  readonly #pids = new Set<number>();
  readonly #endAll = () => {
    for (const pid of this.#pids) signalTree(pid, "SIGKILL");
  };

  add(pid: number): void {
    if (this.#pids.size === 0) process.on("exit", this.#endAll);
    this.#pids.add(pid);
  }

  remove(pid: number): void {
    this.#pids.delete(pid);
    if (this.#pids.size === 0) process.off("exit", this.#endAll);
  }
}

/** Process-wide by nature, like the exit event it listens to. */
export const liveChildren = new LiveChildren();
