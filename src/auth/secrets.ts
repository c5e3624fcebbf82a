import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import { sha256 } from "../text/digest.ts";
import { isRecord } from "../json/is-record.ts";
import { withLock, type HeldLock } from "../files/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../files/owner-only-file.ts";
import { seal, unseal } from "./seal.ts";
import { checkSecretName, fullName, isValidSecretName, ownedName, type OwnedName } from "./secret-name.ts";
import { SECRET_ENDING, SecretsKey, type SecretsKeyOptions } from "./secrets-key.ts";
import { instanceKey } from "./server-instance.ts";

export interface StoredSecret {
  value: string;
  /** Where it may be sent, as `https://api.example`; undefined until it is decided. */
  origins?: readonly string[] | undefined;
}

/** Where secrets are kept. */
export interface SecretStore {
  get(name: string): Promise<StoredSecret | undefined>;
  /** An existing secret keeps its origins. Returns the secret as stored. */
  set(name: string, value: string, origins?: readonly string[]): Promise<StoredSecret>;
  /** Allows one more origin for a secret; undefined if there is no such secret. */
  allow(name: string, origin: string): Promise<StoredSecret | undefined>;
  /** Limits a secret without origins to this one. Returns it with its origins, which another process may have set. */
  bind(name: string, origin: string): Promise<StoredSecret | undefined>;
  /** Moves a secret that was stored by a version without origins to a new name; undefined if there is none. */
  adopt(name: string, former: string): Promise<StoredSecret | undefined>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<StoredSecrets>;
}

export interface StoredSecrets {
  /** Sorted by name, without their values. */
  secrets: { name: string; origins?: readonly string[] | undefined }[];
  /** The number of further secrets whose names cannot be read. */
  unreadable: number;
}

interface NamedSecret extends StoredSecret {
  /** The full name. */
  name: string;
}

/**
 * Secrets in a folder: one file each, so that two processes do not overwrite each other, encrypted with AES-256-GCM and
 * a key that is created on first use.
 */
export class FileSecretStore implements SecretStore {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #key: SecretsKey;

  constructor(options: SecretsKeyOptions) {
    this.#folder = options.folder;
    this.#platform = options.platform;
    this.#key = new SecretsKey(options);
  }

  async get(name: string): Promise<StoredSecret | undefined> {
    if (!isValidSecretName(name)) return undefined;
    return this.#find(name, throwDamaged);
  }

  async set(name: string, value: string, origins?: readonly string[]): Promise<StoredSecret> {
    checkSecretName(name);
    return withLock(this.#file(name), async (held) => {
      // A secret that can no longer be decrypted is replaced.
      const before = await this.#find(name, () => undefined);
      return this.#write(name, { value, origins: before?.origins ?? origins }, held);
    });
  }

  allow(name: string, origin: string): Promise<StoredSecret | undefined> {
    return this.#change(name, (before) => {
      return { ...before, origins: [...new Set([...(before.origins ?? []), origin])].sort() };
    });
  }

  bind(name: string, origin: string): Promise<StoredSecret | undefined> {
    return this.#change(name, (before) => (before.origins ? before : { ...before, origins: [origin] }));
  }

  async adopt(name: string, former: string): Promise<StoredSecret | undefined> {
    const kept = await this.#read(this.#formerFile(former));
    if (!kept) return undefined;
    return withLock(this.#file(name), async (held) => {
      return (await this.get(name)) ?? this.#write(name, { value: kept.value }, held);
    });
  }

  async remove(name: string): Promise<boolean> {
    const removed = await Promise.all([this.#file(name), this.#formerFile(name)].map(removeFile));
    return removed.includes(true);
  }

  async list(): Promise<StoredSecrets> {
    const files = await this.#files();
    if (files.length === 0) return { secrets: [], unreadable: 0 };
    const key = await this.#key.get();
    const opened = await Promise.allSettled(
      files.map(async (file) => {
        const sealed = await readOwnerOnly(file, this.#platform);
        return sealed && this.#unseal(file, sealed, key, throwDamaged);
      }),
    );
    const byName = new Map<string, readonly string[] | undefined>();
    for (const result of opened) {
      const secret = result.status === "fulfilled" ? result.value : undefined;
      if (secret) byName.set(secret.name, secret.origins ?? byName.get(secret.name));
    }
    const names = [...byName.keys()].sort();
    return {
      secrets: names.map((name) => ({ name, origins: byName.get(name) })),
      unreadable: opened.filter(({ status }) => status === "rejected").length,
    };
  }

  /** Another process may do the same at the same time; its changes must not be lost. */
  async #change(name: string, change: (before: StoredSecret) => StoredSecret): Promise<StoredSecret | undefined> {
    if (!(await this.get(name))) return undefined;
    return withLock(this.#file(name), async (held) => {
      const before = await this.get(name);
      const after = before && change(before);
      return after && after !== before ? this.#write(name, after, held) : after;
    });
  }

  async #find(name: string, onDamage: OnDamage): Promise<StoredSecret | undefined> {
    return (await this.#read(this.#file(name), onDamage)) ?? this.#read(this.#formerFile(name), onDamage);
  }

  async #read(file: string, onDamage: OnDamage = throwDamaged): Promise<StoredSecret | undefined> {
    const sealed = await readOwnerOnly(file, this.#platform);
    if (!sealed) return undefined;
    const { value, origins } = this.#unseal(file, sealed, await this.#key.get(), onDamage) ?? {};
    return value === undefined ? undefined : { value, origins };
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name.endsWith(SECRET_ENDING)).map((name) => join(this.#folder, name));
  }

  /** Under the lock of its file. */
  async #write(name: string, secret: StoredSecret, { check }: HeldLock): Promise<StoredSecret> {
    await this.#key.use((key) => this.#seal({ name, ...secret }, key, check));
    await removeFile(this.#formerFile(name));
    return secret;
  }

  async #seal({ name, value, origins }: NamedSecret, key: Buffer, check: HeldLock["check"]): Promise<void> {
    // The name is part of the content: swapped files are noticed, and the folder does not show which secrets exist.
    const text = JSON.stringify({ ...ownedName(name), value, origins });
    await writeOwnerOnly(this.#file(name), seal(text, key), check);
  }

  #unseal(file: string, sealed: Buffer, key: Buffer, onDamage: OnDamage): NamedSecret | undefined {
    try {
      const secret = this.#secretIn(JSON.parse(unseal(sealed, key)), file);
      if (!secret) throw new Error("it was stored under another name");
      return secret;
    } catch (cause) {
      return onDamage(file, cause);
    }
  }

  /**
   * Undefined if it does not belong in this file. What is sealed with the key was written here, so its form is known.
   */
  #secretIn(content: unknown, file: string): NamedSecret | undefined {
    const isOwned = isRecord(content) && content["of"] !== undefined;
    const secret = content as OwnedName & StoredSecret;
    const name = isOwned ? fullName(secret) : secret.name;
    if (file !== (isOwned ? this.#file(name) : this.#formerFile(name))) return undefined;
    return { name, value: secret.value, origins: secret.origins };
  }

  #file(name: string): string {
    const { of, name: own } = ownedName(name);
    return join(this.#folder, `${sha256(instanceKey(of, own))}${SECRET_ENDING}`);
  }

  /** The file in which versions without origins stored it. */
  #formerFile(name: string): string {
    return join(this.#folder, `${sha256(name)}${SECRET_ENDING}`);
  }
}

type OnDamage = (file: string, cause: unknown) => undefined;

function throwDamaged(file: string, cause: unknown): never {
  throw new NexusError("PERMISSION_DENIED", `A stored secret cannot be decrypted`, {
    phase: "config",
    source: { file },
    hint: "The encryption key or the file was changed. Set the secret again.",
    cause,
    mayHaveReached: false,
  });
}

async function removeFile(file: string): Promise<boolean> {
  try {
    await rm(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
