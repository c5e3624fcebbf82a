import { execFile } from "node:child_process";
// Loaded when they are used, unlike "node:fs/promises".
import { promises as fs } from "node:fs";
import { promisify } from "node:util";

/**
 * The resident memory of process groups, in bytes, by their leaders: a server and everything it started. Undefined where the
 * system does not tell.
 */
export async function groupMemory(
  leaders: readonly number[],
  platform: NodeJS.Platform,
): Promise<Map<number, number> | undefined> {
  const wanted = new Set(leaders);
  if (platform === "linux") return fromProc(wanted);
  return platform === "darwin" ? fromPs(wanted) : undefined;
}

async function fromProc(wanted: ReadonlySet<number>): Promise<Map<number, number>> {
  const bytes = new Map<number, number>();
  for (const name of await fs.readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const group = await groupOf(name);
    if (group === undefined || !wanted.has(group)) continue;
    bytes.set(group, (bytes.get(group) ?? 0) + (await residentBytes(name)));
  }
  return bytes;
}

/** Undefined where the process is gone. */
async function groupOf(pid: string): Promise<number | undefined> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The command's name may itself contain spaces and brackets; the fields after it are counted from its end.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

async function residentBytes(pid: string): Promise<number> {
  const status = await fs.readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
}

async function fromPs(wanted: ReadonlySet<number>): Promise<Map<number, number>> {
  const { stdout } = await promisify(execFile)("/bin/ps", ["-axo", "pgid=,rss="], { maxBuffer: 16 * 1024 * 1024 });
  const bytes = new Map<number, number>();
  for (const line of stdout.split("\n")) {
    const [group = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    if (wanted.has(group)) bytes.set(group, (bytes.get(group) ?? 0) + kilobytes * 1_024);
  }
  return bytes;
}
