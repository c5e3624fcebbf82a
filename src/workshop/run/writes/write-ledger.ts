import type { CallToolResult } from "../../../protocol/mcp.ts";

const DAY_MS = 86_400_000;
/** How long completed writes are remembered. Open and unknown ones are never forgotten. */
export const RETENTION_MS = 365 * DAY_MS;

/**
 * The record of a write. `pending`: it is being sent, until that time at the latest; after that its outcome is unknown.
 * `by` identifies the sender.
 */
export type WriteRecord =
  | { kind: "pending"; at: number; until: number; by?: string; tool?: string | undefined }
  | { kind: "done"; at: number; result: CallToolResult }
  | { kind: "unknown"; at: number; tool?: string | undefined }
  | { kind: "refused"; at: number };

/** The outcome of a write: done, certainly not done, or unknown. */
export type WriteOutcome =
  | { kind: "done"; result: CallToolResult }
  | { kind: "refused" }
  | { kind: "unknown"; tool?: string };

/** An earlier write that prevents sending. */
export type EarlierWrite = Extract<WriteRecord, { kind: "done" | "unknown" | "pending" }>;

/** Records sent writes, so that no write is sent twice, in this or another process. */
export interface WriteLedger {
  /** The state of an earlier write with this key, if it prevents sending. */
  find(key: string): Promise<EarlierWrite | undefined>;
  /** Acquires the exclusive right to send until `settle`, or returns why it cannot. */
  begin(key: string, until: number, tool?: string): Promise<EarlierWrite | undefined>;
  settle(key: string, outcome: WriteOutcome): Promise<void>;
  /** Whether it survives the process, so that a person can record an outcome later: `nexus api settle`. */
  readonly isLasting?: boolean;
}

/** Refused writes may be sent again; the outcome of pending ones is unknown after their deadline. */
export function inTheWay(record: WriteRecord | undefined, now: number): EarlierWrite | undefined {
  if (!record || record.kind === "refused") return undefined;
  return record.kind === "pending" && record.until <= now
    ? { kind: "unknown", at: record.at, tool: record.tool }
    : record;
}

/** Remembers writes in memory, until the process ends. */
export class MemoryWriteLedger implements WriteLedger {
  readonly #records = new Map<string, WriteRecord>();
  readonly #now: () => number;

  constructor({ now = Date.now }: { now?: () => number } = {}) {
    this.#now = now;
  }

  async find(key: string): Promise<EarlierWrite | undefined> {
    return inTheWay(this.#records.get(key), this.#now());
  }

  async begin(key: string, until: number): Promise<EarlierWrite | undefined> {
    const earlier = inTheWay(this.#records.get(key), this.#now());
    if (!earlier) this.#records.set(key, { kind: "pending", at: this.#now(), until });
    return earlier;
  }

  async settle(key: string, outcome: WriteOutcome): Promise<void> {
    this.#records.set(key, { ...outcome, at: this.#now() });
  }
}
