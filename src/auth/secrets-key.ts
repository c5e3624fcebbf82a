import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import { withLock, type HeldLock } from "../files/file-lock.ts";
import type { KeyHolder } from "./keychain.ts";
import { readOwnerOnly, writeOwnerOnly } from "../files/owner-only-file.ts";

export const SECRET_ENDING = ".secret";
export const CREDENTIAL_ENDING = ".credential";

const KEY_BYTES = 32;
/** A keychain that does not answer is slow, so it is not asked again for each secret of a configuration. */
const REMEMBER_MS = 5_000;

export interface SecretsKeyOptions {
  /** The folder of the secrets, where the key is. */
  folder: string;
  platform: NodeJS.Platform;
  keychain?: KeyHolder | undefined;
  /** How long an answer of the keychain is used, also the answer that there is none. */
  rememberMs?: number | undefined;
}

/** The folder of the credentials of servers, which the same key encrypts. */
export function credentialsFolder(secretsFolder: string): string {
  return join(dirname(secretsFolder), "credentials");
}

/**
 * The key that encrypts secrets and credentials: in the system's keychain if it works, otherwise in an owner-only file.
 */
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
          hint: `The key is damaged. Restore it from a backup, or ${this.#startAgain()}`,
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

  /** Gives the key to `write`, and creates it first if there is none. */
  async use(write: (key: Buffer) => Promise<void>): Promise<void> {
    const key = await this.find();
    if (key) return write(key);
    // The first file is written before another process can check whether there is one, and create its own key.
    await withLock(this.file, async ({ check }) => write(await this.#make(check)));
  }

  async #make(check: HeldLock["check"]): Promise<Buffer> {
    // Another process may have created it in the meantime.
    this.#asked = undefined;
    const known = await this.find();
    if (known) return known;
    // A keychain that is unavailable for a moment looks like one without a key: a new key would make all secrets
    // unreadable.
    if (await this.#isUsed()) throw this.#missing();
    const made = randomBytes(KEY_BYTES);
    await check();
    if (!(await this.#keychain?.keep(made))) await writeOwnerOnly(this.file, made, check);
    // Use the key that other processes will find.
    this.#asked = undefined;
    return this.get();
  }

  /** Whether something was encrypted already. */
  async #isUsed(): Promise<boolean> {
    const has = async (folder: string, ending: string) =>
      (await readdir(folder).catch(() => [])).some((name) => name.endsWith(ending));
    return (await has(this.#folder, SECRET_ENDING)) || (await has(credentialsFolder(this.#folder), CREDENTIAL_ENDING));
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
      hint: `Unlock the keychain and try again. If the key is lost, ${this.#startAgain()}`,
      mayHaveReached: false,
    });
  }

  #startAgain(): string {
    const folders = `${this.#folder} and ${credentialsFolder(this.#folder)}`;
    return `delete the folders ${folders}, set the secrets and log in to servers again.`;
  }
}
