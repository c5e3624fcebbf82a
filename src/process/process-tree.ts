import { spawn } from "node:child_process";
import { windowsProgram } from "./find-program.ts";

/** What ending a process depends on. */
export interface ProcessSystem {
  platform: NodeJS.Platform;
  /** Variables of this process; those of the child can be anything. */
  variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Sends a signal to a child and everything it started. On Windows every signal ends the tree. */
export function signalTree(
  pid: number,
  signal: NodeJS.Signals,
  { platform, variables }: ProcessSystem = { platform: process.platform },
): boolean {
  if (platform === "win32") {
    // Windows has no process groups; taskkill walks the tree of processes.
    const options = { stdio: "ignore", windowsHide: true } as const;
    spawn(windowsProgram("taskkill.exe", variables), ["/pid", String(pid), "/T", "/F"], options).on("error", () => {});
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

/** Ends the rest of a group whose leader has exited: SIGTERM, then SIGKILL after the grace time. */
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
 * Ends children that are still running when this process exits or is ended by a signal without having closed them: they
 * have their own process groups, so Ctrl-C in the terminal does not reach them. Listens only while there are children.
 */
class LiveChildren {
  readonly #children = new Map<number, ProcessSystem>();

  add(pid: number, system: ProcessSystem): void {
    if (this.#children.size === 0) {
      process.on("exit", this.#onExit);
      for (const signal of ENDING_SIGNALS) process.on(signal, this.#onSignal);
    }
    this.#children.set(pid, system);
  }

  remove(pid: number): void {
    this.#children.delete(pid);
    if (this.#children.size === 0) this.#stopListening();
  }

  readonly #onExit = () => {
    for (const [pid, system] of this.#children) signalTree(pid, "SIGKILL", system);
  };

  /** If the program has its own handler, that one decides; otherwise the signal has its usual effect. */
  readonly #onSignal = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    for (const [pid, system] of this.#children) signalTree(pid, "SIGTERM", system);
    this.#stopListening();
    process.kill(process.pid, signal);
  };

  #stopListening(): void {
    process.off("exit", this.#onExit);
    for (const signal of ENDING_SIGNALS) process.off(signal, this.#onSignal);
  }
}

/** Process-wide, like the events it listens to. */
export const liveChildren = new LiveChildren();
