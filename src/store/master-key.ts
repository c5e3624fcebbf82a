import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { withLock } from "../files/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../files/owner-only-file.ts";
import { storeUnusable } from "./engine/store-failure.ts";

const KEY_BYTES = 32;
const VARIABLE = "NEXUS_MASTER_KEY";

/** Each purpose has its own derived key. */
type KeyPurpose =
  | "seal"
  | "secrets"
  | "servers"
  | "apis"
  | "state"
  | "backup"
  | "audit"
  | "audit-values"
  | "audit-seen"
  | "check";

/** The key from which all other keys of a store are derived. It is never in the store. */
export class MasterKey {
  /** The place it was read from, for messages. */
  readonly origin: string;
  readonly #key: Buffer;

  constructor(key: Buffer, origin: string) {
    this.#key = key;
    this.origin = origin;
  }

  derive(purpose: KeyPurpose): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#key, "nexus store", purpose, KEY_BYTES));
  }

  /** Identifies the key without revealing it. The store keeps it to recognise its key. */
  get checkValue(): string {
    return createHmac("sha256", this.derive("check")).update("nexus").digest("hex");
  }
}

/** The place of the master key: the variable NEXUS_MASTER_KEY, or an owner-only file. */
export class MasterKeyPlace {
  readonly file: string;
  readonly platform: NodeJS.Platform;
  readonly #variable: string | undefined;

  constructor({ stateFolder, platform, variables }: MasterKeyPlaceOptions) {
    this.file = join(stateFolder, "master.key");
    this.platform = platform;
    this.#variable = variables[VARIABLE];
  }

  async find(): Promise<MasterKey | undefined> {
    if (this.#variable !== undefined && this.#variable !== "") return keyIn(this.#variable, VARIABLE);
    const kept = await readOwnerOnly(this.file, this.platform);
    return kept && keyIn(kept.toString("utf8"), this.file);
  }

  /** The existing key, or a new one in the file. Concurrent processes create only one. */
  async findOrCreate(): Promise<MasterKey> {
    return (
      (await this.find()) ??
      withLock(this.file, async ({ check }) => {
        const known = await this.find();
        if (known) return known;
        const key = randomBytes(KEY_BYTES);
        await writeOwnerOnly(this.file, `${key.toString("base64")}\n`, check);
        return new MasterKey(key, this.file);
      })
    );
  }
}

interface MasterKeyPlaceOptions {
  stateFolder: string;
  platform: NodeJS.Platform;
  variables: Readonly<Record<string, string | undefined>>;
}

/** The error must not contain any part of the key. */
function keyIn(text: string, origin: string): MasterKey {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? "hex" : "base64");
  if (key.length === KEY_BYTES && /^[\w+/=-]+$/.test(trimmed)) return new MasterKey(key, origin);
  throw storeUnusable(
    `The master key in ${origin} is not a key: it must be ${KEY_BYTES} bytes, written in base64 or hex`,
    "Use the key that the store was created with. A key for a new store: openssl rand -base64 32",
  );
}
