import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import type { KeyHolder } from "./keychain.ts";
import { withLock, type HeldLock } from "./file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "./owner-only-file.ts";

/** Where secrets are kept. */
export interface SecretStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<StoredSecrets>;
}

export interface StoredSecrets {
  /** Sorted. */
  names: string[];
  /** How many there are besides these, whose names cannot be read. */
  unreadable: number;
}

interface Secret {
  name: string;
  value: string;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A keychain that does not answer takes its time to say so: it is not asked again for each secret of a configuration. */
const REMEMBER_MS = 5_000;
const NAME = /^[\w.-]{1,128}$/;

/** Throws where a secret cannot be called that. */
export function checkSecretName(name: string): void {
  if (NAME.test(name)) return;
  throw new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} cannot be the name of a secret`, {
    phase: "config",
    hint: "A name has 1 to 128 letters, digits, dots, dashes and underscores.",
    mayHaveReached: false,
  });
}

export interface SecretStoreOptions {
  folder: string;
  platform: NodeJS.Platform;
  keychain?: KeyHolder | undefined;
  /** How long an answer of the keychain counts, also that there is none. */
  rememberMs?: number | undefined;
}

/**
 * Secrets in a folder: a file each, so that two processes never overwrite each other's, encrypted with AES-256-GCM under
 * a key that is made on first use. The system's keychain keeps it where there is one that works, else a file that only
 * the owner can read.
 */
export class FileSecretStore implements SecretStore {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #keychain: KeyHolder | undefined;
  readonly #rememberMs: number;
  /** What the keychain was asked last; an answer counts until then. */
  #asked: { answer: Promise<Buffer | undefined>; until: number } | undefined;

  constructor({ folder, platform, keychain, rememberMs = REMEMBER_MS }: SecretStoreOptions) {
    this.#folder = folder;
    this.#platform = platform;
    this.#keychain = keychain;
    this.#rememberMs = rememberMs;
  }

  async get(name: string): Promise<string | undefined> {
    if (!NAME.test(name)) return undefined;
    const file = this.#file(name);
    const sealed = await readOwnerOnly(file, this.#platform);
    if (!sealed) return undefined;
    const key = await this.#findKey();
    if (!key) throw this.#keyless();
    return this.#unseal(file, sealed, key).value;
  }

  async set(name: string, value: string): Promise<void> {
    checkSecretName(name);
    const key = await this.#findKey();
    if (key) return this.#write({ name, value }, key);
    // The first secret is there before anybody else can ask whether there is one, and make a key of his own.
    await withLock(this.#keyFile(), async ({ check }) => this.#write({ name, value }, await this.#makeKey(check)));
  }

  async remove(name: string): Promise<boolean> {
    try {
      await rm(this.#file(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  async list(): Promise<StoredSecrets> {
    const files = await this.#files();
    if (files.length === 0) return { names: [], unreadable: 0 };
    const key = await this.#findKey();
    if (!key) throw this.#keyless();
    const opened = await Promise.allSettled(
      files.map(async (file) => {
        const sealed = await readOwnerOnly(file, this.#platform);
        return sealed && this.#unseal(file, sealed, key).name;
      }),
    );
    const names = opened.flatMap((result) => (result.status === "fulfilled" ? (result.value ?? []) : []));
    return { names: names.sort(), unreadable: opened.filter(({ status }) => status === "rejected").length };
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name.endsWith(".secret")).map((name) => join(this.#folder, name));
  }

  async #write(secret: Secret, key: Buffer): Promise<void> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
    // The name is inside: exchanging files is noticed, and the folder tells nobody which secrets there are.
    const sealed = Buffer.concat([cipher.update(JSON.stringify(secret), "utf8"), cipher.final()]);
    await writeOwnerOnly(this.#file(secret.name), Buffer.concat([nonce, cipher.getAuthTag(), sealed]));
  }

  #unseal(file: string, sealed: Buffer, key: Buffer): Secret {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const body = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      const secret = JSON.parse(body.toString("utf8")) as Secret;
      if (this.#file(secret.name) !== file) throw new Error("it was stored under another name");
      return secret;
    } catch (cause) {
      throw new NexusError("PERMISSION_DENIED", `A stored secret cannot be decrypted`, {
        phase: "config",
        source: { file },
        hint: "Its key or the file was changed. Set the secret again.",
        cause,
        mayHaveReached: false,
      });
    }
  }

  /** To be called by the only one who makes it. */
  async #makeKey(check: HeldLock["check"]): Promise<Buffer> {
    // Another process may have made it since.
    this.#asked = undefined;
    const known = await this.#findKey();
    if (known) return known;
    // A keychain that is away for a moment looks like one that has no key: another one would cost all secrets there are.
    if ((await this.#files()).length > 0) throw this.#keyless();
    const made = randomBytes(KEY_BYTES);
    await check();
    if (!(await this.#keychain?.keep(made))) await writeOwnerOnly(this.#keyFile(), made, check);
    // What is used is what others will find.
    this.#asked = undefined;
    const kept = await this.#findKey();
    if (!kept) throw this.#keyless();
    return kept;
  }

  async #findKey(): Promise<Buffer | undefined> {
    const file = this.#keyFile();
    const kept = await readOwnerOnly(file, this.#platform);
    if (kept && kept.length !== KEY_BYTES) {
      throw new NexusError("PERMISSION_DENIED", `The key of the secrets has ${kept.length} bytes, not ${KEY_BYTES}`, {
        phase: "config",
        source: { file },
        hint: `It was damaged. Bring it back from a copy, or delete the folder ${this.#folder} and set the secrets again.`,
        mayHaveReached: false,
      });
    }
    return kept ?? (await this.#askKeychain());
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

  #keyless(): NexusError {
    const message = "The key of the secrets is gone, or the keychain that keeps it does not answer";
    return new NexusError("PERMISSION_DENIED", message, {
      phase: "config",
      source: { file: this.#folder },
      hint: `Unlock the keychain and try again. If the key is lost, delete the folder ${this.#folder} and set the secrets again.`,
      mayHaveReached: false,
    });
  }

  #keyFile(): string {
    return join(this.#folder, "key");
  }

  #file(name: string): string {
    return join(this.#folder, `${createHash("sha256").update(name).digest("hex")}.secret`);
  }
}
