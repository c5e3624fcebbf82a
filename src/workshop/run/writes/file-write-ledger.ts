import { randomBytes } from "node:crypto";
import { Turns } from "../../../async/turns.ts";
import { withLock, type HeldLock } from "../../../files/file-lock.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { LineFile } from "../../../files/line-file.ts";
import {
  inTheWay,
  RETENTION_MS,
  type EarlierWrite,
  type WriteLedger,
  type WriteOutcome,
  type WriteRecord,
} from "./write-ledger.ts";
import { existsSync } from "node:fs";
import { isRecord } from "../../../json/is-record.ts";

/** The minimum number of outdated lines for rewriting the file. */
const MIN_OUTDATED = 1_000;

/** A write with unknown outcome; `tool` if it was recorded. */
export interface UnknownWrite {
  key: string;
  at: number;
  tool: string | undefined;
}

export interface FileWriteLedgerOptions {
  file: string;
  platform: NodeJS.Platform;
  now?: () => number;
  minOutdated?: number;
  /** An older ledger, whose records also count: they are copied when this one is created. */
  former?: string;
}

/**
 * Writes in an owner-only file that all processes share. Lines are only appended; when most of them are outdated, the
 * file is rewritten without those. The memory has only the positions of the records.
 */
export class FileWriteLedger implements WriteLedger {
  readonly isLasting = true;
  readonly #path: string;
  readonly #file: LineFile;
  readonly #now: () => number;
  readonly #minOutdated: number;
  readonly #import: () => Promise<void>;
  /** The position of the valid line by key. Refused writes have none. */
  readonly #places = new Map<string, number>();
  #lines = 0;
  /** The file contains something else: earlier writes may be lost, so nothing is sent. */
  #isSpoiled = false;
  readonly #reading = new Turns();

  constructor(options: FileWriteLedgerOptions) {
    const { file, platform, now = Date.now, minOutdated = MIN_OUTDATED, former } = options;
    this.#path = file;
    this.#file = new LineFile(file, platform);
    this.#now = now;
    this.#minOutdated = minOutdated;
    this.#import = async () => {
      if (former !== undefined) await importLedger({ from: former, to: file, platform });
    };
  }

  /** Without the lock: a complete line is valid, and `begin` checks again. */
  async find(key: string): Promise<EarlierWrite | undefined> {
    await this.#import();
    return inTheWay(await this.#load(key), this.#now());
  }

  async begin(key: string, until: number, tool?: string): Promise<EarlierWrite | undefined> {
    await this.#import();
    return withLock(this.#path, async ({ check }) => {
      const earlier = inTheWay(await this.#load(key), this.#now());
      if (earlier) return earlier;
      await this.#compact(check);
      const by = randomBytes(8).toString("hex");
      await check();
      await this.#file.append(lineOf({ key, record: { kind: "pending", at: this.#now(), until, by, tool } }));
      return this.#othersThan(by, key);
    });
  }

  async settle(key: string, outcome: WriteOutcome): Promise<void> {
    await this.#import();
    await withLock(this.#path, async () => {
      await this.#catchUp();
      // Also if the lock was lost: the line is about our own write, and lines are only appended.
      await this.#file.append(lineOf({ key, record: { ...outcome, at: this.#now() } }));
    });
  }

  /** All writes with unknown outcome, the oldest first. */
  async unknown(): Promise<UnknownWrite[]> {
    await this.#catchUp();
    const found: UnknownWrite[] = [];
    for await (const { key, record } of this.#counting()) {
      const earlier = inTheWay(record, this.#now());
      if (earlier?.kind === "unknown") found.push({ key, at: earlier.at, tool: earlier.tool });
    }
    return found.toSorted((a, b) => a.at - b.at);
  }

  /** The write whose caller got this id, wherever it was sent. */
  async findId(id: string): Promise<EarlierWrite | undefined> {
    await this.#catchUp();
    const key = [...this.#places.keys()].find((each) => each === id || each.startsWith(`${id} `));
    return key === undefined ? undefined : this.find(key);
  }

  /** Records the outcome of a write with unknown outcome; a known outcome is kept and returned. */
  async resolve(key: string, outcome: WriteOutcome): Promise<EarlierWrite | undefined> {
    return withLock(this.#path, async ({ check }) => {
      const earlier = inTheWay(await this.#load(key), this.#now());
      if (earlier?.kind !== "unknown") return earlier;
      await check();
      await this.#file.append(lineOf({ key, record: { ...outcome, at: this.#now() } }));
      return earlier;
    });
  }

  /**
   * A process that lost the lock and wrote anyway does not send: of two that began, the one with the first line has the
   * right.
   */
  async #othersThan(by: string, key: string): Promise<EarlierWrite | undefined> {
    const record = await this.#load(key);
    if (record?.kind === "pending" && record.by === by) return undefined;
    const other = inTheWay(record, this.#now());
    if (!other) throw unrecorded(this.#path);
    return other;
  }

  async #load(key: string): Promise<WriteRecord | undefined> {
    // The file may be rewritten between reading its lines and reading one of them.
    for (;;) {
      await this.#catchUp();
      const { name } = this.#file;
      const at = this.#places.get(key);
      if (at === undefined) return undefined;
      const line = await this.#file.lineAt(at, name);
      if (line === undefined) continue;
      const entry = entryIn(line);
      if (entry?.key !== key) throw spoiledLedger(this.#path);
      return entry.record;
    }
  }

  /** One after the other, so that older lines do not overwrite newer ones. */
  #catchUp(): Promise<void> {
    return this.#reading.run(async () => {
      await this.#file.readOn({ restart: () => this.#restart(), line: (text, at) => this.#take(text, at) });
      if (this.#isSpoiled) throw spoiledLedger(this.#path);
    });
  }

  #restart(): void {
    this.#places.clear();
    this.#lines = 0;
    this.#isSpoiled = false;
  }

  #take(line: string, at: number): void {
    this.#lines++;
    const entry = entryIn(line);
    if (!entry) this.#isSpoiled ||= !isHarmless(line);
    else if (entry.record.kind === "refused") this.#places.delete(entry.key);
    else if (entry.record.kind !== "pending" || !this.#places.has(entry.key)) this.#places.set(entry.key, at);
  }

  async #compact(check: HeldLock["check"]): Promise<void> {
    const outdated = this.#lines - this.#places.size;
    if (outdated < Math.max(this.#minOutdated, this.#places.size)) return;
    await this.#file.rewrite(this.#keptLines(), check);
    await this.#catchUp();
  }

  async *#keptLines(): AsyncGenerator<string> {
    const oldest = this.#now() - RETENTION_MS;
    for await (const entry of this.#counting()) if (isKept(entry, oldest)) yield lineOf(entry);
  }

  /** The valid entries in the order of the file. */
  async *#counting(): AsyncGenerator<LedgerEntry> {
    for await (const { text, at } of this.#file.lines()) {
      const entry = entryIn(text);
      if (entry && this.#places.get(entry.key) === at) yield entry;
    }
  }
}

function isKept({ record: { kind, at } }: LedgerEntry, oldest: number): boolean {
  return kind === "pending" || kind === "unknown" || at >= oldest;
}

function unrecorded(path: string): NexusError {
  return new NexusError("TIMEOUT", "The write could not be recorded, so it was not sent", {
    source: { file: path },
    hint: "Another process replaced the file meanwhile. Try again.",
    mayHaveReached: false,
  });
}

interface LedgerImport {
  /** Not changed: other ledgers may also copy it. */
  from: string;
  to: string;
  platform: NodeJS.Platform;
}

/** Creates a ledger with the records of an older one; does nothing if it exists or there is no older one. */
async function importLedger({ from, to, platform }: LedgerImport): Promise<void> {
  if (existsSync(to) || !existsSync(from)) return;
  await withLock(to, async ({ check }) => {
    if (existsSync(to)) return;
    const former = new LineFile(from, platform);
    await former.readOn({
      restart() {},
      line(text) {
        if (!entryIn(text) && !isHarmless(text)) throw spoiledLedger(from);
      },
    });
    await new LineFile(to, platform).rewrite(entriesOf(former), check);
  });
}

async function* entriesOf(file: LineFile): AsyncGenerator<string> {
  for await (const { text } of file.lines()) if (entryIn(text)) yield text;
}

/** The content of one line of a ledger's file. */
interface LedgerEntry {
  key: string;
  record: WriteRecord;
}

const KINDS = new Set<unknown>(["pending", "done", "unknown", "refused"]);
const STARTS = ['{"key":', '{"file":'];

function lineOf({ key, record }: LedgerEntry): string {
  return JSON.stringify({ key, ...record });
}

/** Undefined if the line is not an entry. */
function entryIn(line: string): LedgerEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["at"] !== "number") return undefined;
    const { key, ...record } = value;
    return KINDS.has(record["kind"]) ? { key, record: record as WriteRecord } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A line that is not an entry but no damage: the name of the file, or a line that was cut off before anything was sent.
 */
function isHarmless(line: string): boolean {
  return /^\{"file":"[0-9a-f]+"\}$/.test(line) || isCutOff(line);
}

/** Its process died while writing it, or the power failed. */
function isCutOff(line: string): boolean {
  if (line.endsWith("}")) return false;
  return /^\0+$/.test(line) || STARTS.some((start) => line.startsWith(start) || start.startsWith(line));
}

/** The error for a ledger's file with invalid lines. */
function spoiledLedger(path: string): NexusError {
  return new NexusError("CONFIG_INVALID", "The record of earlier writes was damaged, so the write was not sent", {
    source: { file: path },
    hint: `Restore ${path}. If you know that nothing in it will be asked for again, remove it.`,
    mayHaveReached: false,
  });
}
