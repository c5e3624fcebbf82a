import { createHmac, timingSafeEqual } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { withLock } from "../../files/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { DatabaseAddress } from "../engine/database-address.ts";
import type { ChainPlace } from "./audit-chain.ts";

/** A newest record that was there, and when. */
export interface SeenPlace extends ChainPlace {
  at: number;
}

/** What this machine knows of the audit in a database. */
export interface Seen {
  /** How many losses were known; see `KnownLosses`. */
  losses: number;
  /** By tenant. */
  places: Map<string, SeenPlace>;
}

/** The file was changed by somebody who does not have the master key. */
export class WitnessChanged {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

interface WitnessOptions {
  key: Buffer;
  /** The file of the master key: what was seen is in a folder beside it. */
  keyFile: string;
  platform: NodeJS.Platform;
}

const FOLDER = "audit-seen";

/**
 * Remembers, outside of the database, which records of its audit this machine has seen: an older state that is put back is whole
 * and signed, so nothing in the database tells it apart. In a file of the user's state folder, signed with the master key.
 */
export class AuditWitness {
  readonly file: string;
  readonly #key: Buffer;
  readonly #platform: NodeJS.Platform;

  constructor(address: DatabaseAddress, { key, keyFile, platform }: WitnessOptions) {
    this.#key = key;
    this.#platform = platform;
    // Another key makes another store of the same address.
    const name = createHmac("sha256", key).update(identityOf(address)).digest("hex");
    this.file = join(dirname(keyFile), FOLDER, `${name.slice(0, 32)}.json`);
  }

  /** Throws PERMISSION_DENIED where the file cannot be read, or others can write it. */
  async load(): Promise<Seen | WitnessChanged> {
    const kept = await readOwnerOnly(this.file, this.#platform);
    if (!kept) return { losses: 0, places: new Map() };
    const [line = "", mac = ""] = kept.toString("utf8").split("\n");
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#macOf(line))];
    const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
    const seen = isSigned ? seenIn(parseJson(line)) : undefined;
    return seen ?? new WitnessChanged(this.file);
  }

  /** Changes what is known, while no other process does. */
  async update(change: (seen: Seen | WitnessChanged) => Promise<Seen | undefined>): Promise<void> {
    await withLock(this.file, async ({ check }) => {
      const seen = await change(await this.load());
      if (!seen) return;
      const line = JSON.stringify({ losses: seen.losses, places: Object.fromEntries(seen.places) });
      await writeOwnerOnly(this.file, `${line}\n${this.#macOf(line)}\n`, check);
    });
  }

  #macOf(line: string): string {
    return createHmac("sha256", this.#key).update(line).digest("hex");
  }
}

/** Without the user and the password: they can change, and the database stays the same. */
function identityOf(address: DatabaseAddress): string {
  if (address.kind === "sqlite") return `sqlite ${realFile(address.file)}`;
  const { hostname, port, pathname, searchParams } = new URL(address.url);
  return ["postgres", hostname, port || "5432", pathname, searchParams.get("options") ?? ""].join(" ");
}

function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function seenIn(value: unknown): Seen | undefined {
  if (!isRecord(value) || !isRecord(value["places"]) || typeof value["losses"] !== "number") return undefined;
  const places = new Map<string, SeenPlace>();
  for (const [tenant, place] of Object.entries(value["places"])) {
    if (!isRecord(place)) return undefined;
    const { seq, hash, at } = place;
    if (typeof seq !== "number" || typeof hash !== "string" || typeof at !== "number") return undefined;
    places.set(tenant, { seq, hash, at });
  }
  return { losses: value["losses"], places };
}
