import { withLock } from "../../auth/file-lock.ts";
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
    }
    this.#lines += lines.length;
    for (const entry of lines.map(entryIn)) {
      if (!entry) continue;
      this.#records.delete(entry.key);
      this.#records.set(entry.key, entry.record);
    }
  }

  async #add(key: string, record: WriteRecord): Promise<void> {
    if (this.#lines < 2 * this.#maxRecords) return this.#file.append(lineOf(key, record));
    const others = [...this.#records].filter(([itsKey]) => itsKey !== key);
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
