import { type BigIntStats, promises as fs } from "node:fs";
import { basename, join } from "node:path";
import { NexusError } from "../../errors/nexus-error.ts";
import { withLock } from "../../files/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";
import { maskUrl } from "../../masking/mask-words.ts";
import { seal, unseal } from "../seal.ts";
import { CREDENTIAL_ENDING, credentialsFolder, SecretsKey, type SecretsKeyOptions } from "../secrets-key.ts";
import type { CredentialStorage, StoredCredential } from "./stored-credential.ts";

interface FileCredentialsOptions extends Omit<SecretsKeyOptions, "folder"> {
  /** The state folder of the tenant. */
  stateFolder: string;
}

/** What can be shown of a credential. */
export interface CredentialSummary {
  server: string;
  issuer: string;
  clientId: string;
  /** As granted, or as asked for where the authorization server named none. */
  scopes: readonly string[];
  /** False: only the registered client is kept, and a login is needed. */
  hasToken: boolean;
  /** Milliseconds since 1970; undefined: unknown. */
  expiresAt?: number | undefined;
  canRefresh: boolean;
}

interface KeptCredentials {
  /** Sorted by the URL of their server. */
  credentials: CredentialSummary[];
  /** Files that cannot be decrypted. */
  unreadable: string[];
}

const VERSION = 1;

/** Credentials in a folder: one encrypted file for each server. The folder does not show which servers they are for. */
export class FileCredentials implements CredentialStorage {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;
  readonly #key: SecretsKey;
  /** What was read last, by file. */
  readonly #read = new Map<string, { identity: string; credential: StoredCredential }>();

  constructor({ stateFolder, ...options }: FileCredentialsOptions) {
    const secrets = join(stateFolder, "secrets");
    this.#folder = credentialsFolder(secrets);
    this.#platform = options.platform;
    this.#key = new SecretsKey({ ...options, folder: secrets });
  }

  async load(server: string): Promise<StoredCredential | undefined> {
    return this.#load(this.#file(server), server);
  }

  async save(credential: StoredCredential): Promise<void> {
    const file = this.#file(credential.server);
    const text = JSON.stringify({ version: VERSION, credential });
    await this.#key.use((key) => writeOwnerOnly(file, seal(text, key, basename(file))));
  }

  async remove(server: string): Promise<boolean> {
    const file = this.#file(server);
    this.#read.delete(file);
    try {
      await fs.rm(file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  exclusively<T>(server: string, work: () => Promise<T>): Promise<T> {
    return withLock(this.#file(server), work);
  }

  async list(): Promise<KeptCredentials> {
    const names = await fs.readdir(this.#folder).catch(() => []);
    const files = names.filter((name) => name.endsWith(CREDENTIAL_ENDING)).map((name) => join(this.#folder, name));
    // A missing key is an error of its own, not that of each file.
    if (files.length > 0) await this.#key.get();
    const read = await Promise.allSettled(files.map((file) => this.#load(file)));
    const found = read.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : []));
    return {
      credentials: found.map(credentialSummary).sort((one, other) => (one.server < other.server ? -1 : 1)),
      unreadable: files.filter((_file, index) => read[index]?.status === "rejected"),
    };
  }

  async #load(file: string, server?: string): Promise<StoredCredential | undefined> {
    const facts = await fs.stat(file, { bigint: true }).catch(() => undefined);
    const known = this.#read.get(file);
    if (facts && known?.identity === identityOf(facts)) return known.credential;
    const sealed = await readOwnerOnly(file, this.#platform);
    if (!sealed) return undefined;
    const credential = open(sealed, await this.#key.get(), { file, server });
    if (facts) this.#read.set(file, { identity: identityOf(facts), credential });
    return credential;
  }

  #file(server: string): string {
    return join(this.#folder, `${sha256(sameUrl(server))}${CREDENTIAL_ENDING}`);
  }
}

/** Every save makes a new file, also one by another process. */
function identityOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}

/** One form for all ways in which the same URL is written. */
function sameUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

interface Place {
  file: string;
  /** Undefined in a list: only the file is known. */
  server: string | undefined;
}

function open(sealed: Buffer, key: Buffer, place: Place): StoredCredential {
  const content = contentOf(sealed, key, place);
  const version = isRecord(content) ? content["version"] : undefined;
  if (!isRecord(content) || version !== VERSION) {
    throw unusable(place, `has the format ${String(version)}, and this version of Nexus reads format ${VERSION}`);
  }
  // What is sealed with the key was written here, so its form is known.
  return content["credential"] as StoredCredential;
}

function contentOf(sealed: Buffer, key: Buffer, place: Place): unknown {
  try {
    return JSON.parse(unseal(sealed, key, basename(place.file)));
  } catch (cause) {
    throw unusable(place, "cannot be decrypted: the file or the encryption key was changed", cause);
  }
}

function unusable({ file, server }: Place, problem: string, cause?: unknown): NexusError {
  const url = server === undefined ? undefined : maskUrl(server);
  const message = `The kept login${url === undefined ? "" : ` for ${url}`} ${problem}`;
  return new NexusError("AUTH_REQUIRED", message, {
    phase: "config",
    source: { file },
    hint: `Log in again: nexus mcp login ${url ?? "<server>"}`,
    cause,
    mayHaveReached: false,
  });
}

export function credentialSummary({ server, issuer, client, tokens, scopes }: StoredCredential): CredentialSummary {
  return {
    server,
    issuer,
    clientId: client.clientId,
    scopes: tokens?.scope?.split(" ").filter((scope) => scope !== "") ?? scopes,
    hasToken: tokens !== undefined,
    expiresAt: tokens?.expiresAt,
    canRefresh: tokens?.refreshToken !== undefined,
  };
}
