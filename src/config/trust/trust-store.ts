import { join } from "node:path";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";

/** Remembers which versions of which project files may start programs. */
export interface TrustStore {
  /** Whether folders without any such file are also trusted. */
  readonly trustsFolders?: true;
  isTrusted(file: string, fingerprint: string): Promise<boolean>;
  trust(file: string, fingerprint: string): Promise<void>;
  revoke(file: string): Promise<void>;
}

/** For one run: everything is trusted, and nothing is remembered. */
export const TRUST_EVERYTHING: TrustStore = {
  trustsFolders: true,
  isTrusted: () => Promise.resolve(true),
  trust: () => Promise.resolve(),
  revoke: () => Promise.resolve(),
};

/** A digest of a file's servers. The order counts: of two headers that differ in case, one is stronger. */
export function fingerprintOf(servers: unknown): string {
  return sha256(JSON.stringify(servers));
}

/** Trust in a file that only its owner can write; if that is uncertain, nothing is trusted. */
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

  /** Another process may change it at the same time; what was revoked there must not return here. */
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
      // A file that others can write, or that is damaged, is ignored.
      return new Map();
    }
  }
}
