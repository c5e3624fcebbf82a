// Not "node:fs/promises": `promises` of "node:fs" is loaded on first use, which makes short commands faster.
// faster.
import { unlinkSync, promises as fs } from "node:fs";
import { join } from "node:path";
import { DRAFT_ENDING, writeAtomicSync } from "../../files/atomic-write.ts";
import { Turns } from "../../async/turns.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { signalTree } from "../../process/process-tree.ts";
import { identify, identifyNow, type ProcessIdentity } from "../../files/process-identity.ts";

interface NotedProcess extends ProcessIdentity {
  pid: number;
}

interface Page {
  host: NotedProcess;
  children: NotedProcess[];
}

/** A draft file older than this was abandoned: writing one takes a moment. */
const DRAFT_MS = 60_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Records the processes that this host has started, so that the next host can end what a killed host left running: only
 * a process with the same pid, start time and command.
 */
export class ChildLedger {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #children = new Map<number, ProcessIdentity>();
  /** Unique, because a process may have several hosts. */
  readonly #name = `${process.pid}-${Math.random().toString(36).slice(2)}.json`;
  #self: ProcessIdentity | undefined;
  readonly #writing = new Turns();
  #isWaiting = false;

  constructor(folder: string, platform: NodeJS.Platform) {
    this.#folder = folder;
    this.#platform = platform;
  }

  /** Ends the processes of hosts that no longer exist. */
  async sweep(): Promise<void> {
    const files = await fs.readdir(this.#folder).catch(() => []);
    await Promise.all(
      files
        .filter((file) => file.endsWith(".json") || file.endsWith(DRAFT_ENDING))
        .map((file) => join(this.#folder, file))
        .map((file) => (file.endsWith(DRAFT_ENDING) ? sweepDraft(file) : this.#sweepPage(file)).catch(() => {})),
    );
  }

  /** Also called for a known pid, because its command may have changed. */
  async add(pid: number): Promise<void> {
    const identity = identifyNow(pid, this.#platform) ?? (await identify(pid, this.#platform));
    const known = this.#children.get(pid);
    if (!identity || (known?.startedAt === identity.startedAt && known.command === identity.command)) return;
    this.#children.set(pid, identity);
    this.#self ??= identifyNow(process.pid, this.#platform);
    // Written synchronously, because the host may be killed at any moment.
    if (this.#self) this.#writeNow(this.#self);
    else await this.#write();
  }

  async remove(pid: number): Promise<void> {
    if (this.#children.delete(pid)) await this.#write();
  }

  /** A problem with one page must not keep the host from starting. */
  async #sweepPage(file: string): Promise<void> {
    const page = loadPage(file);
    if (!page) return;
    if (await this.#isSame(page.host)) return;
    for (const child of page.children)
      if (await this.#isSame(child)) signalTree(child.pid, "SIGKILL", { platform: this.#platform });
    await fs.rm(file, { force: true });
  }

  async #isSame({ pid, startedAt, command }: NotedProcess): Promise<boolean> {
    const now = await identify(pid, this.#platform);
    return now?.startedAt === startedAt && now.command === command;
  }

  /** Changes by many children at the same time are written once. */
  #write(): Promise<void> {
    if (!this.#isWaiting) void this.#writing.run(() => this.#writePage());
    this.#isWaiting = true;
    return this.#writing.ended();
  }

  async #writePage(): Promise<void> {
    this.#self ??= await identify(process.pid, this.#platform);
    this.#isWaiting = false;
    if (this.#self) this.#writeNow(this.#self);
  }

  #writeNow(self: ProcessIdentity): void {
    try {
      this.#writeFile(self);
    } catch {
      // If the folder is not writable, servers run without a record.
    }
  }

  #writeFile(self: ProcessIdentity): void {
    const file = join(this.#folder, this.#name);
    if (this.#children.size === 0) return unlinkSync(file);
    const page: Page = {
      host: { pid: process.pid, ...self },
      children: [...this.#children].map(([pid, identity]) => ({ pid, ...identity })),
    };
    writeAtomicSync(file, JSON.stringify(page));
  }
}

async function sweepDraft(file: string): Promise<void> {
  const { mtimeMs } = await fs.stat(file);
  if (Date.now() - mtimeMs > DRAFT_MS) await fs.rm(file, { force: true });
}

/** A page that cannot be read is ignored. */
function loadPage(file: string): Page | undefined {
  try {
    const page: unknown = JSON.parse(findRegularText(file, MAX_PAGE_BYTES) ?? "null");
    return isPage(page) ? page : undefined;
  } catch {
    return undefined;
  }
}

function isPage(value: unknown): value is Page {
  return (
    isRecord(value) && isNoted(value["host"]) && Array.isArray(value["children"]) && value["children"].every(isNoted)
  );
}

function isNoted(value: unknown): value is NotedProcess {
  if (!isRecord(value)) return false;
  const { pid, startedAt, command } = value;
  // Signals to pids below 2 would reach whole process groups.
  return Number.isSafeInteger(pid) && Number(pid) > 1 && typeof startedAt === "string" && typeof command === "string";
}
