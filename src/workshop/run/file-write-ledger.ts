import { open, type FileHandle } from "node:fs/promises";
import { withLock } from "../../auth/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../auth/owner-only-file.ts";
import { isRecord } from "../../protocol/json-rpc.ts";
import { inTheWay, type EarlierWrite, type WriteLedger, type WriteOutcome, type WriteRecord } from "./write-ledger.ts";

export interface FileWriteLedgerOptions {
  file: string;
  platform: NodeJS.Platform;
  now?: () => number;
  /** The oldest go first, those whose end is known before the others. */
  maxRecords?: number;
}

/**
 * Writes in a file of lines that only its owner can read, shared by all processes that use it. A line is never changed;
 * when most of them are outdated, the file is written anew.
 */
export class FileWriteLedger implements WriteLedger {
  readonly #file: string;
  readonly #platform: NodeJS.Platform;
  readonly #now: () => number;
  readonly #maxRecords: number;

  constructor({ file, platform, now = Date.now, maxRecords = 5_000 }: FileWriteLedgerOptions) {
    this.#file = file;
    this.#platform = platform;
    this.#now = now;
    this.#maxRecords = maxRecords;
  }

  /** Without the lock: lines are appended whole, and `begin` looks again. */
  async find(key: string): Promise<EarlierWrite | undefined> {
    return inTheWay((await this.#read()).records.get(key), this.#now());
  }

  async begin(key: string, until: number): Promise<EarlierWrite | undefined> {
    return withLock(this.#file, async () => {
      const ledger = await this.#read();
      const earlier = inTheWay(ledger.records.get(key), this.#now());
      if (!earlier) await this.#add(ledger, key, { kind: "pending", at: this.#now(), until });
      return earlier;
    });
  }

  async settle(key: string, outcome: WriteOutcome): Promise<void> {
    await withLock(this.#file, async () => this.#add(await this.#read(), key, { ...outcome, at: this.#now() }));
  }

  async #add(ledger: Ledger, key: string, record: WriteRecord): Promise<void> {
    const line = `${JSON.stringify({ key, ...record })}\n`;
    if (ledger.lines < 2 * this.#maxRecords) return append(this.#file, ledger.isTorn ? `\n${line}` : line);
    ledger.records.delete(key);
    const kept = newest(ledger.records, this.#maxRecords - 1);
    const lines = kept.map(([itsKey, its]) => `${JSON.stringify({ key: itsKey, ...its })}\n`);
    await writeOwnerOnly(this.#file, [...lines, line].join(""));
  }

  async #read(): Promise<Ledger> {
    const text = (await readOwnerOnly(this.#file, this.#platform))?.toString("utf8") ?? "";
    const records = new Map<string, WriteRecord>();
    const lines = text.split("\n");
    for (const line of lines) {
      const entry = entryIn(line);
      if (!entry) continue;
      // The last line counts, and what changed last is the newest.
      records.delete(entry.key);
      records.set(entry.key, entry.record);
    }
    return { records, lines: lines.length, isTorn: text !== "" && !text.endsWith("\n") };
  }
}

interface Ledger {
  records: Map<string, WriteRecord>;
  lines: number;
  /** Somebody died while writing. What he wrote does not count: nothing is sent before its line is whole. */
  isTorn: boolean;
}

async function append(path: string, line: string): Promise<void> {
  await using file: FileHandle = await open(path, "a", 0o600);
  await file.writeFile(line);
  // Nothing is sent that a power failure could make forgotten.
  await file.datasync();
}

function newest(records: Map<string, WriteRecord>, count: number): [string, WriteRecord][] {
  const isOpen = ([, { kind }]: [string, WriteRecord]) => kind === "pending" || kind === "unknown";
  const all = [...records];
  const kept = new Set([...all.filter((entry) => !isOpen(entry)), ...all.filter(isOpen)].slice(-count));
  return all.filter((entry) => kept.has(entry));
}

function entryIn(line: string): { key: string; record: WriteRecord } | undefined {
  if (line === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["at"] !== "number") return undefined;
    const { key, ...record } = value;
    return KINDS.has(record["kind"]) ? { key, record: record as WriteRecord } : undefined;
  } catch {
    return undefined;
  }
}

const KINDS = new Set<unknown>(["pending", "done", "unknown", "refused"]);
