import { messageOf } from "../errors/nexus-error.ts";
import { sizeText } from "../text/byte-size.ts";
import type { Logger } from "../text/logger.ts";
import { type BudgetScope, bytesOf } from "./budget-scope.ts";
import type { ScopeKind } from "./process-limits.ts";
import type { ProcessSlot } from "./process-budget.ts";
import { execFile } from "node:child_process";
import { promises as fs } from "node:fs";
import { promisify } from "node:util";

interface MemoryWatchOptions {
  platform: NodeJS.Platform;
  measureMs: number;
  logger: Logger;
  scopes: () => readonly BudgetScope[];
  onMeasured: () => void;
}

/** Above this multiple of a limit, processes are killed although their calls are running. */
const HARD_LIMIT = 1.5;

const WHOSE: Record<ScopeKind, string> = {
  all: "all servers together use",
  tenant: "the servers of its tenant use",
  server: "it uses",
};

/**
 * Measures the memory of processes while it is limited. Where there is too much, idle processes stop, the least recently
 * used first, then the largest as soon as their calls are finished; far above the limit, the largest are killed.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #watched = new Set<ProcessSlot>();
  /** What a process of a server takes, as last seen: a new one is expected to take as much. */
  readonly #typical = new Map<string, number>();
  #isPlanned = false;
  #cannotMeasure = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  expectedBytes({ request: { tenant, server } }: ProcessSlot): number {
    return this.#typical.get(JSON.stringify([tenant, server])) ?? 0;
  }

  /** Measures it from now on, if its memory is limited. */
  watch(slot: ProcessSlot): void {
    if (this.#cannotMeasure || !slot.scopes.some(({ limits }) => limits.memoryBytes < Infinity)) return;
    this.#watched.add(slot);
    this.#measureLater();
  }

  #measureLater(): void {
    if (this.#isPlanned || this.#cannotMeasure) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#measureNow(), this.#options.measureMs).unref();
  }

  async #measureNow(): Promise<void> {
    try {
      await this.#measure();
    } catch (error) {
      this.#options.logger.debug(`cannot measure memory: ${messageOf(error)}`);
    }
    this.#isPlanned = false;
    for (const slot of this.#watched) if (slot.children.size === 0) this.#watched.delete(slot);
    if (this.#watched.size > 0) this.#measureLater();
  }

  async #measure(): Promise<void> {
    const { platform, logger, scopes, onMeasured } = this.#options;
    const pids = [...this.#watched].flatMap((slot) => [...slot.children].map(({ pid }) => pid));
    const measured = await groupMemory(pids, platform);
    if (!measured) {
      this.#cannotMeasure = true;
      logger.warn("The memory of processes cannot be measured on this system: its limits have no effect");
      return;
    }
    for (const slot of this.#watched) this.#note(slot, measured);
    for (const scope of scopes()) this.#relieve(scope);
    onMeasured();
  }

  #note(slot: ProcessSlot, measured: ReadonlyMap<number, number>): void {
    slot.bytes = [...slot.children].reduce((sum, { pid }) => sum + (measured.get(pid) ?? 0), 0);
    const { tenant, server } = slot.request;
    if (slot.bytes > 0) this.#typical.set(JSON.stringify([tenant, server]), slot.bytes);
  }

  #relieve(scope: BudgetScope): void {
    const { memoryBytes: limit } = scope.limits;
    const staying = [...scope.slots].filter(({ isLeaving }) => !isLeaving);
    let rest = bytesOf(staying);
    if (rest <= limit) return;
    const reason = `${WHOSE[scope.kind]} ${sizeText(rest)} of memory, and the limit is ${sizeText(limit)}`;
    const isTooMuch = rest > limit * HARD_LIMIT;
    for (const slot of inOrderOfEnding(staying)) {
      if (rest <= limit) return;
      rest -= slot.bytes;
      this.#end(slot, { reason, isTooMuch });
    }
  }

  #end(slot: ProcessSlot, { reason, isTooMuch }: { reason: string; isTooMuch: boolean }): void {
    const { server } = slot.request;
    const { logger } = this.#options;
    const words = `"${server}": ${reason}. A process of ${sizeText(slot.bytes)}`;
    if (slot.idleSince !== undefined) {
      logger.warn(`${words} was idle and is stopped`);
      slot.stop();
    } else if (isTooMuch) {
      logger.warn(`${words} is killed`);
      for (const child of slot.children) child.kill(reason);
    } else if (!slot.endsWhenIdle) {
      logger.warn(`${words} is stopped when its calls are finished`);
      slot.endsWhenIdle = true;
    }
  }
}

/** Idle ones first, the least recently used of them at the beginning; then those in use, the largest first. */
function inOrderOfEnding(slots: readonly ProcessSlot[]): ProcessSlot[] {
  const idle = slots.filter(({ idleSince }) => idleSince !== undefined);
  const used = slots.filter(({ idleSince }) => idleSince === undefined);
  return [
    ...idle.toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0)),
    ...used.toSorted((a, b) => b.bytes - a.bytes),
  ];
}

// Loaded when they are used, unlike "node:fs/promises".

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
