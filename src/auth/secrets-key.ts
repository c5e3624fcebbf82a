import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import type { HeldLock } from "../files/file-lock.ts";
import type { KeyHolder } from "./keychain.ts";
import { readOwnerOnly, writeOwnerOnly } from "../files/owner-only-file.ts";

const KEY_BYTES = 32;
/** A keychain that does not answer is slow, so it is not asked again for each secret of a configuration. */
const REMEMBER_MS = 5_000;

export interface SecretsKeyOptions {
  folder: string;
  platform: NodeJS.Platform;
  keychain?: KeyHolder | undefined;
  /** How long an answer of the keychain is used, also the answer that there is none. */
  rememberMs?: number | undefined;
}

/** The key that encrypts secrets: in the system's keychain if it works, otherwise in an owner-only file. */
export class SecretsKey {
  /** The file that is locked while a key is created. */
  readonly file: string;
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #keychain: KeyHolder | undefined;
  readonly #rememberMs: number;
  /** The last answer of the keychain, and until when it is used. */
  #asked: { answer: Promise<Buffer | undefined>; until: number } | undefined;

  constructor({ folder, platform, keychain, rememberMs = REMEMBER_MS }: SecretsKeyOptions) {
    this.file = join(folder, "key");
    this.#folder = folder;
    this.#platform = platform;
    this.#keychain = keychain;
    this.#rememberMs = rememberMs;
  }

  async find(): Promise<Buffer | undefined> {
    const { file } = this;
    const kept = await readOwnerOnly(file, this.#platform);
    if (kept && kept.length !== KEY_BYTES) {
      throw new NexusError(
        "PERMISSION_DENIED",
        `The encryption key of the secrets has ${kept.length} bytes instead of ${KEY_BYTES}`,
        {
          phase: "config",
          source: { file },
          hint: `The key is damaged. Restore it from a backup, or delete the folder ${this.#folder} and set the secrets again.`,
          mayHaveReached: false,
        },
      );
    }
    return kept ?? (await this.#askKeychain());
  }

  /** For existing secrets. */
  async get(): Promise<Buffer> {
    const key = await this.find();
    if (!key) throw this.#missing();
    return key;
  }

  /** Creates the key under the lock of its file. `isNeeded` returns whether there are secrets already. */
  async make(check: HeldLock["check"], isNeeded: () => Promise<boolean>): Promise<Buffer> {
    // Another process may have created it in the meantime.
    this.#asked = undefined;
    const known = await this.find();
    if (known) return known;
    // A keychain that is unavailable for a moment looks like one without a key: a new key would make all secrets
    // unreadable.
    if (await isNeeded()) throw this.#missing();
    const made = randomBytes(KEY_BYTES);
    await check();
    if (!(await this.#keychain?.keep(made))) await writeOwnerOnly(this.file, made, check);
    // Use the key that other processes will find.
    this.#asked = undefined;
    return this.get();
  }

  #askKeychain(): Promise<Buffer | undefined> {
    if (!this.#keychain) return Promise.resolve(undefined);
    if (this.#asked && performance.now() < this.#asked.until) return this.#asked.answer;
    const asked = { answer: this.#keychain.find(), until: Infinity };
    const settle = () => (asked.until = performance.now() + this.#rememberMs);
    asked.answer.then(settle, settle);
    this.#asked = asked;
    return asked.answer;
  }

  #missing(): NexusError {
    const message = "The encryption key of the secrets is missing, or the keychain does not respond";
    return new NexusError("PERMISSION_DENIED", message, {
      phase: "config",
      source: { file: this.#folder },
      hint: `Unlock the keychain and try again. If the key is lost, delete the folder ${this.#folder} and set the secrets again.`,
      mayHaveReached: false,
    });
  }
}
