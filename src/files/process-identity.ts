import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { shortName } from "../text/digest.ts";

/** Distinguishes a process from a later one with the same pid. */
export interface ProcessIdentity {
  startedAt: string;
  /** A digest: command lines may contain secrets, and this is written to a file. */
  command: string;
}

/** Like `identify`, but synchronous; undefined if that is not possible. */
export function identifyNow(pid: number, platform: NodeJS.Platform): ProcessIdentity | undefined {
  try {
    return platform === "linux" ? fromProc(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such process, or the platform does not say. */
export async function identify(pid: number, platform: NodeJS.Platform): Promise<ProcessIdentity | undefined> {
  try {
    if (platform === "linux") return fromProc(pid);
    if (platform === "darwin") return await fromPs(pid);
    return undefined;
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): ProcessIdentity | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command's name may contain spaces and brackets, so the fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startedAt] = [fields[0], fields[19]];
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  return startedAt === undefined || state === "Z" ? undefined : { startedAt, command: shortName(command) };
}

async function fromPs(pid: number): Promise<ProcessIdentity | undefined> {
  const { stdout } = await promisify(execFile)("/bin/ps", ["-o", "lstart=,command=", "-p", String(pid)]);
  const [, startedAt, command] = /^(\S+ +\S+ +\S+ +\S+ +\S+) +(.*)$/.exec(stdout.trim()) ?? [];
  return startedAt === undefined || command === undefined ? undefined : { startedAt, command: shortName(command) };
}
