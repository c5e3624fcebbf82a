import { withLock } from "../../auth/file-lock.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../protocol/json-rpc.ts";
import { LineFile } from "./line-file.ts";
import { inTheWay, type EarlierWrite, type WriteLedger, type WriteOutcome, type WriteRecord } from "./write-ledger.ts";

export interface FileWriteLedgerOptions {
  file: string;
  platform: NodeJS.Platform;
  now?: () => number;
  /** The oldest go first, those whose end is known before the others. */
  maxRecords?: number;
}

/**
 * Writes in a file that only its owner can read, shared by all processes that use it. A line is never changed, and the last
 * one of a key counts; when most of them are outdated, the file is written anew.
 */
export class FileWriteLedger implements WriteLedger {
  readonly #path: string;
  readonly #file: LineFile;
  readonly #now: () => number;
  readonly #maxRecords: number;
  /** What changed last is last. */
  readonly #records = new Map<string, WriteRecord>();
  #lines = 0;
  /** It holds something that nobody here wrote: what it said of earlier writes is lost, so nothing is sent. */
  #isSpoiled = false;
  #reading: Promise<void> = Promise.resolve();

  constructor({ file, platform, now = Date.now, maxRecords = 5_000 }: FileWriteLedgerOptions) {
    this.#path = file;
    this.#file = new LineFile(file, platform);
    this.#now = now;
    this.#maxRecords = maxRecords;
  }

  /** Without the lock: a line counts when it is whole, and `begin` looks again. */
  async find(key: string): Promise<EarlierWrite | undefined> {
    await this.#catchUp();
    return inTheWay(this.#records.get(key), this.#now());
  }

  async begin(key: string, until: number): Promise<EarlierWrite | undefined> {
    return withLock(this.#path, async () => {
      await this.#catchUp();
      const earlier = inTheWay(this.#records.get(key), this.#now());
      // A line that was cut off does not count: nothing is sent before its line is whole.
      if (!earlier) await this.#add(key, { kind: "pending", at: this.#now(), until });
      return earlier;
    });
  }

  async settle(key: string, outcome: WriteOutcome): Promise<void> {
    await withLock(this.#path, async () => {
      await this.#catchUp();
      await this.#add(key, { ...outcome, at: this.#now() });
    });
  }

  /** One after the other: older lines must not be taken in after newer ones. */
  #catchUp(): Promise<void> {
    this.#reading = this.#reading.then(
      () => this.#takeIn(),
      () => this.#takeIn(),
    );
    return this.#reading;
  }

  async #takeIn(): Promise<void> {
    const { isAnew, lines } = await this.#file.next();
    if (isAnew) {
      this.#records.clear();
      this.#lines = 0;
      this.#isSpoiled = false;
    }
    this.#lines += lines.length;
    for (const line of lines) {
      const entry = entryIn(line);
      if (entry) {
        this.#records.delete(entry.key);
        this.#records.set(entry.key, entry.record);
      } else if (!isCutOff(line) && !isName(line)) this.#isSpoiled = true;
    }
    if (this.#isSpoiled) throw spoiled(this.#path);
  }

  async #add(key: string, record: WriteRecord): Promise<void> {
    if (this.#lines < 2 * this.#maxRecords) return this.#file.append(lineOf(key, record));
    // What was refused stands in nobody's way: it must not push out what does.
    const others = [...this.#records].filter(([itsKey, { kind }]) => itsKey !== key && kind !== "refused");
    const kept = newest(others, this.#maxRecords - 1).map(([itsKey, its]) => lineOf(itsKey, its));
    await this.#file.rewrite([...kept, lineOf(key, record)]);
  }
}

function newest(records: readonly [string, WriteRecord][], count: number): [string, WriteRecord][] {
  const isOpen = ([, { kind }]: [string, WriteRecord]) => kind === "pending" || kind === "unknown";
  const byWorth = [...records.filter((entry) => !isOpen(entry)), ...records.filter(isOpen)];
  const kept = new Set(byWorth.slice(-count));
  return records.filter((entry) => kept.has(entry));
}

function lineOf(key: string, record: WriteRecord): string {
  return JSON.stringify({ key, ...record });
}

const KINDS = new Set<unknown>(["pending", "done", "unknown", "refused"]);

/** Somebody died while writing it, or the power failed: then nothing was sent yet. */
function isCutOff(line: string): boolean {
  if (line.endsWith("}")) return false;
  return /^\0+$/.test(line) || STARTS.some((start) => line.startsWith(start) || start.startsWith(line));
}

const STARTS = ['{"key":', '{"file":'];

function isName(line: string): boolean {
  return /^\{"file":"[0-9a-f]+"\}$/.test(line);
}

function spoiled(path: string): NexusError {
  return new NexusError("CONFIG_INVALID", "The record of earlier writes was damaged, so nothing was sent", {
    source: { file: path },
    hint: `Restore ${path}. If you know that nothing in it will be asked for again, remove it.`,
    mayHaveReached: false,
  });
}

function entryIn(line: string): { key: string; record: WriteRecord } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["at"] !== "number") return undefined;
    const { key, ...record } = value;
    return KINDS.has(record["kind"]) ? { key, record: record as WriteRecord } : undefined;
  } catch {
    return undefined;
  }
}
