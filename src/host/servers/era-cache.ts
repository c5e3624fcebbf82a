import { writeAtomicSync } from "../../files/atomic-write.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Era } from "../../protocol/revisions.ts";
import { shortName } from "../../text/digest.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";

/** Remembers the era of servers, so that the next connection needs no detection. */
export interface EraCache {
  find(key: string): Promise<Era | undefined>;
  /** Undefined forgets the era. */
  remember(key: string, era: Era | undefined): Promise<void>;
}

const MAX_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** An outdated "modern" fails and is detected again; an outdated "legacy" would never be noticed. */
export const LIFE_MS: Readonly<Record<Era, number>> = { modern: 30 * DAY_MS, legacy: DAY_MS };

/** What identifies a server: how it is started, or its URL and the credentials. */
export function eraKey({ reach }: ResolvedEntry): string {
  return shortName(JSON.stringify(reach));
}

interface Entry {
  era: Era;
  expiresAt: number;
}

/**
 * In a file that only its owner can read. An unreadable file counts as empty. It is small and is read and written
 * synchronously, which is faster at the start of a program.
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
    // Nothing new: the entry is written again only after half of its lifetime.
    if (before?.era === era && (!before || !era || before.expiresAt - Date.now() > LIFE_MS[era] / 2)) return;
    if (era) entries[key] = { era, expiresAt: Date.now() + LIFE_MS[era] };
    for (const [other, { expiresAt }] of Object.entries(entries)) if (expiresAt <= Date.now()) delete entries[other];
    try {
      writeAtomicSync(this.#file, JSON.stringify(entries));
    } catch {
      // The cache only saves time.
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
