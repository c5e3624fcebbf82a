import { writeAtomicSync } from "../../files/atomic-write.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Era } from "../../protocol/revisions.ts";
import { shortName } from "../../text/digest.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";

/** Remembers the era of servers, so that the next connection needs no detection. */
export interface EraCache {
  find(key: string): Promise<Era | undefined>;
  /** Undefined forgets. */
  remember(key: string, era: Era | undefined): Promise<void>;
}

const MAX_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** A stale "modern" fails loudly and is asked again; a stale "legacy" would succeed silently for ever. */
const LIFE_MS: Record<Era, number> = { modern: 30 * DAY_MS, legacy: DAY_MS };

/** What makes two servers the same one: how they are started, or where they are reached and as whom. */
export function eraKey({ reach }: ResolvedEntry): string {
  return shortName(JSON.stringify(reach));
}

interface Entry {
  era: Era;
  expiresAt: number;
}

/**
 * In a file that only its owner can read. A file that cannot be read is as good as none. It is small, and read and
 * written at once: a start has no time for threads.
 */
export class FileEraCache implements EraCache {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async find(key: string): Promise<Era | undefined> {
    const entry = this.#load()[key];
    return entry && entry.expiresAt > Date.now() ? entry.era : undefined;
  }

  async remember(key: string, era: Era | undefined): Promise<void> {
    const { [key]: before, ...entries } = this.#load();
    // Nothing new: the verdict is good for as long again when half of its life is over.
    if (before?.era === era && (!before || !era || before.expiresAt - Date.now() > LIFE_MS[era] / 2)) return;
    if (era) entries[key] = { era, expiresAt: Date.now() + LIFE_MS[era] };
    for (const [other, { expiresAt }] of Object.entries(entries)) if (expiresAt <= Date.now()) delete entries[other];
    try {
      writeAtomicSync(this.#file, JSON.stringify(entries));
    } catch {
      // Nothing depends on it.
    }
  }

  #load(): Record<string, Entry> {
    try {
      const value: unknown = JSON.parse(findRegularText(this.#file, MAX_BYTES) ?? "{}");
      if (!isRecord(value)) return {};
      return Object.fromEntries(
        Object.entries(value).filter((member): member is [string, Entry] => isEntry(member[1])),
      );
    } catch {
      return {};
    }
  }
}

function isEntry(value: unknown): value is Entry {
  return (
    isRecord(value) && (value["era"] === "modern" || value["era"] === "legacy") && Number.isFinite(value["expiresAt"])
  );
}
