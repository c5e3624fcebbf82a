// Loaded when they are used, unlike "node:fs/promises", for which a short command has no time.
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

/** What is written in one go is not half done after this. */
const DRAFT_MS = 60_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * What this host has started, written down, so that the next one can end what a killed one left behind: only a process
 * whose number, start and command are all the same.
 */
export class ChildLedger {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #children = new Map<number, ProcessIdentity>();
  /** Of its own: a process may have several hosts. */
  readonly #name = `${process.pid}-${Math.random().toString(36).slice(2)}.json`;
  #self: ProcessIdentity | undefined;
  readonly #writing = new Turns();
  #isWaiting = false;

  constructor(folder: string, platform: NodeJS.Platform) {
    this.#folder = folder;
    this.#platform = platform;
  }

  /** Ends what hosts that are gone left running. */
  async sweep(): Promise<void> {
    const files = await fs.readdir(this.#folder).catch(() => []);
    await Promise.all(
      files
        .filter((file) => file.endsWith(".json") || file.endsWith(DRAFT_ENDING))
        .map((file) => join(this.#folder, file))
        .map((file) => (file.endsWith(DRAFT_ENDING) ? sweepDraft(file) : this.#sweepPage(file)).catch(() => {})),
    );
  }

  /** Again for one that is there already: its command may have changed. */
  async add(pid: number): Promise<void> {
    const identity = identifyNow(pid, this.#platform) ?? (await identify(pid, this.#platform));
    const known = this.#children.get(pid);
    if (!identity || (known?.startedAt === identity.startedAt && known.command === identity.command)) return;
    this.#children.set(pid, identity);
    this.#self ??= identifyNow(process.pid, this.#platform);
    // Whoever is killed in the next moment must have written it.
    if (this.#self) this.#writeNow(this.#self);
    else await this.#write();
  }

  async remove(pid: number): Promise<void> {
    if (this.#children.delete(pid)) await this.#write();
  }

  /** Housekeeping: whatever goes wrong with one page keeps no host from starting. */
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

  /** What many children change at the same time is written once. */
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
      // A folder that cannot be written to keeps no server from running.
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

/** A page that cannot be read accuses nobody. */
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
  // A number below 2 names no child, but everybody in a group.
  return Number.isSafeInteger(pid) && Number(pid) > 1 && typeof startedAt === "string" && typeof command === "string";
}
