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

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends children that are still running when this process exits, or is ended by a signal, without having closed them:
 * they are in groups of their own, so the terminal's Ctrl-C does not reach them. Listens only while there are children.
 */
class LiveChildren {
  readonly #pids = new Set<number>();

  add(pid: number): void {
    if (this.#pids.size === 0) {
      process.on("exit", this.#onExit);
      for (const signal of ENDING_SIGNALS) process.on(signal, this.#onSignal);
    }
    this.#pids.add(pid);
  }

  remove(pid: number): void {
    this.#pids.delete(pid);
    if (this.#pids.size === 0) this.#stopListening();
  }

  readonly #onExit = () => {
    for (const pid of this.#pids) signalTree(pid, "SIGKILL");
  };

  /** A program with a handler of its own decides; otherwise the signal does what it would have done without us. */
  readonly #onSignal = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    for (const pid of this.#pids) signalTree(pid, "SIGTERM");
    this.#stopListening();
    process.kill(process.pid, signal);
  };

  #stopListening(): void {
    process.off("exit", this.#onExit);
    for (const signal of ENDING_SIGNALS) process.off(signal, this.#onSignal);
  }
}

/** Process-wide by nature, like the events it listens to. */
export const liveChildren = new LiveChildren();
