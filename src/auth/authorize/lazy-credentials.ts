import type { CancelSignal } from "../../async/cancellation.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type {
  AuthorizedRequest,
  CredentialHeaders,
  CredentialSource,
  Refusal,
} from "../../transport/credential-source.ts";
import type { CredentialStorage } from "../oauth/stored-credential.ts";

export interface LazyCredentialsOptions {
  /** The URL of the server. */
  server: string;
  storage: Pick<CredentialStorage, "load">;
  /** Names the credential in caches; default: unique, because nothing is known about whose it is. */
  name?: string | undefined;
  /** Secrets that are masked in errors. */
  hidden: HiddenValues;
  /** Loads what speaks OAuth. */
  open: () => Promise<CredentialSource>;
}

const NONE: CredentialHeaders = {};

/**
 * A credential source for servers of which most require no authorization: it looks once for a credential, sends nothing
 * where there is none, and loads the code of OAuth only for a credential or after a refusal.
 */
export class LazyCredentials implements CredentialSource {
  readonly name: string;
  readonly #options: LazyCredentialsOptions;
  #source: CredentialSource | undefined;
  #opening: Promise<CredentialSource> | undefined;
  #looking: Promise<void> | undefined;
  /** There was no credential, and no request was refused yet. */
  #isOpen = false;

  constructor(options: LazyCredentialsOptions) {
    this.name = options.name ?? crypto.randomUUID();
    this.#options = options;
  }

  get loginName(): string | undefined {
    return this.#source?.loginName;
  }

  findHeaders(request: AuthorizedRequest): CredentialHeaders | undefined {
    if (this.#source) return this.#source.findHeaders(request);
    return this.#isOpen ? NONE : undefined;
  }

  getHeaders(request: AuthorizedRequest, signal?: CancelSignal): Promise<CredentialHeaders> {
    return this.#masked(async () => {
      if (!this.#source) await (this.#looking ??= this.#look());
      if (!this.#source) return NONE;
      return this.#source.findHeaders(request) ?? this.#source.getHeaders(request, signal);
    });
  }

  renew(refusal: Refusal, signal?: CancelSignal): Promise<boolean> {
    return this.#masked(async () => {
      // A server that denies access without a challenge does not ask for another credential.
      if (!this.#source && refusal.status === 403 && refusal.headers["www-authenticate"] === undefined) return false;
      return (await this.#open()).renew(refusal, signal);
    });
  }

  /** A storage that cannot be read is reported to each request, and read again by the next one. */
  async #look(): Promise<void> {
    const { storage, server } = this.#options;
    try {
      if (await storage.load(server)) await this.#open();
      else this.#isOpen = true;
    } finally {
      this.#looking = undefined;
    }
  }

  async #open(): Promise<CredentialSource> {
    this.#opening ??= this.#options.open();
    try {
      return (this.#source = await this.#opening);
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #masked<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw error instanceof NexusError ? this.#options.hidden.inError(error) : error;
    }
  }
}
