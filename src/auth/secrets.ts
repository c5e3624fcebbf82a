import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import type { KeyHolder } from "./keychain.ts";
import { createOwnerOnly, readOwnerOnly, writeOwnerOnly } from "./owner-only-file.ts";

/** Where secrets are kept. */
export interface SecretStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
  /** Names only, sorted. */
  list(): Promise<string[]>;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
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

/**
 * Secrets in a folder: a file each, so that two processes never overwrite each other's, encrypted with AES-256-GCM under
 * a key that is made on first use. The system's keychain keeps it where there is one that works, else a file that only
 * the owner can read.
 */
export class FileSecretStore implements SecretStore {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #keychain: KeyHolder | undefined;

  constructor({ folder, platform, keychain }: { folder: string; platform: NodeJS.Platform; keychain?: KeyHolder }) {
    this.#folder = folder;
    this.#platform = platform;
    this.#keychain = keychain;
  }

  async get(name: string): Promise<string | undefined> {
    if (!NAME.test(name)) return undefined;
    return (await this.#open(this.#file(name)))?.value;
  }

  async set(name: string, value: string): Promise<void> {
    checkSecretName(name);
    const file = this.#file(name);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", await this.#makeKey(), nonce, { authTagLength: TAG_BYTES });
    // The name is inside: exchanging files is noticed, and the folder tells nobody which secrets there are.
    const sealed = Buffer.concat([cipher.update(JSON.stringify({ name, value }), "utf8"), cipher.final()]);
    await writeOwnerOnly(file, Buffer.concat([nonce, cipher.getAuthTag(), sealed]));
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

  async list(): Promise<string[]> {
    const files = await readdir(this.#folder).catch(() => []);
    const secrets = await Promise.all(
      files.filter((file) => file.endsWith(".secret")).map((file) => this.#open(join(this.#folder, file))),
    );
    return secrets.flatMap((secret) => (secret ? [secret.name] : [])).sort();
  }

  async #open(file: string): Promise<{ name: string; value: string } | undefined> {
    const sealed = await readOwnerOnly(file, this.#platform);
    if (!sealed) return undefined;
    const key = await this.#findKey();
    try {
      if (!key) throw new Error("its key is gone");
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const body = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      const secret = JSON.parse(body.toString("utf8")) as { name: string; value: string };
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

  async #makeKey(): Promise<Buffer> {
    const known = await this.#findKey();
    if (known) return known;
    const made = randomBytes(KEY_BYTES);
    if (await this.#keychain?.keep(made)) return made;
    await createOwnerOnly(this.#keyFile(), made);
    // Another process may have been first.
    const key = await this.#findKey();
    if (!key) throw new NexusError("INTERNAL", "The key of the secrets vanished while it was made");
    return key;
  }

  async #findKey(): Promise<Buffer | undefined> {
    return (await readOwnerOnly(this.#keyFile(), this.#platform)) ?? (await this.#keychain?.find());
  }

  #keyFile(): string {
    return join(this.#folder, "key");
  }

  #file(name: string): string {
    return join(this.#folder, `${createHash("sha256").update(name).digest("hex")}.secret`);
  }
}
