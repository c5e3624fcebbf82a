import { join } from "node:path";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";

/** Remembers which versions of which project files may start programs. */
export interface TrustStore {
  /** Folders without any such file are trusted as well. */
  readonly trustsFolders?: true;
  isTrusted(file: string, fingerprint: string): Promise<boolean>;
  trust(file: string, fingerprint: string): Promise<void>;
  revoke(file: string): Promise<void>;
}

/** For one run: whatever is found is trusted, and nothing is remembered. */
export const TRUST_EVERYTHING: TrustStore = {
  trustsFolders: true,
  isTrusted: () => Promise.resolve(true),
  trust: () => Promise.resolve(),
  revoke: () => Promise.resolve(),
};

/** What a file's servers are, in one word. The order counts: of two headers that differ in case, one is stronger. */
export function fingerprintOf(servers: unknown): string {
  return sha256(JSON.stringify(servers));
}

/** Trust kept in a file that only its owner can write; where that cannot be sure, nothing is trusted. */
export class FileTrustStore implements TrustStore {
  readonly #file: string;
  readonly #platform: NodeJS.Platform;

  constructor({ folder, platform }: { folder: string; platform: NodeJS.Platform }) {
    this.#file = join(folder, "trust.json");
    this.#platform = platform;
  }

  async isTrusted(file: string, fingerprint: string): Promise<boolean> {
    return (await this.#load()).get(file) === fingerprint;
  }

  trust(file: string, fingerprint: string): Promise<void> {
    return this.#change((known) => known.set(file, fingerprint));
  }

  revoke(file: string): Promise<void> {
    return this.#change((known) => known.delete(file));
  }

  /** Another process may do the same at the same time: what was revoked there must not come back here. */
  async #change(change: (known: Map<string, string>) => void): Promise<void> {
    const { withLock } = await import("../../files/file-lock.ts");
    await withLock(this.#file, async ({ check }) => {
      const known = await this.#load();
      change(known);
      const text = JSON.stringify({ files: Object.fromEntries(known) }, undefined, 2);
      await writeOwnerOnly(this.#file, `${text}\n`, check);
    });
  }

  async #load(): Promise<Map<string, string>> {
    try {
      const text = await readOwnerOnly(this.#file, this.#platform);
      const content: unknown = text && JSON.parse(text.toString("utf8"));
      if (!isRecord(content) || !isRecord(content["files"])) return new Map();
      const entries = Object.entries(content["files"]);
      return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
    } catch {
      // A file that others could write, or that is damaged, has no say.
      return new Map();
    }
  }
}
