import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { shortName } from "../text/digest.ts";
import { identifyNow } from "./process-identity.ts";

/**
 * What is known about a lock's holder. `number in use`: a process has its pid, but the platform cannot say at once
 * whether it is the same process. `unknown`: it runs on another machine or in another container.
 */
export type HolderState = "alive" | "dead" | "number in use" | "unknown";

const NO_START = "-";

/** Identifies this process and one lock of it: pid, a random part, the machine, and its start time. */
export function newToken(): string {
  const { pid, platform } = process;
  const startedAt = identifyNow(pid, platform)?.startedAt ?? NO_START;
  return `${pid} ${Math.random().toString(36).slice(2)} ${machine()} ${startedAt}`;
}

export function holderState(token: string): HolderState {
  const [, pid, where, startedAt] = parsed(token);
  if (pid === undefined || where !== machine()) return "unknown";
  const presence = presenceOf(Number(pid));
  if (presence !== "ours" || startedAt === NO_START) return presence === "none" ? "dead" : "number in use";
  return identifyNow(Number(pid), process.platform)?.startedAt === startedAt ? "alive" : "dead";
}

/** The process that a token names, if it runs on this machine. */
export function processIn(token: string): number | undefined {
  const [, pid, where] = parsed(token);
  return pid !== undefined && where === machine() ? Number(pid) : undefined;
}

function parsed(token: string): readonly (string | undefined)[] {
  return /^(\d+) \w+ (\S+) (\S+)$/.exec(token) ?? [];
}

function presenceOf(pid: number): "ours" | "another user's" | "none" {
  try {
    process.kill(pid, 0);
    return "ours";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "none" : "another user's";
  }
}

/**
 * The same for all processes that share pids. Host names do not suffice: cloned machines keep theirs, and containers
 * that share a folder may have the same one.
 */
function machine(): string {
  const read = (get: () => string) => {
    try {
      return get();
    } catch {
      return "";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const processes = read(() => readlinkSync("/proc/self/ns/pid"));
  return shortName([hostname(), boot, processes].join("\n"));
}
