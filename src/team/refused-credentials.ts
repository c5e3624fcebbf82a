import type { IncomingHttpHeaders } from "node:http";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { correlationOf } from "../server/core/correlation.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { Store } from "../store/store.ts";
import { incidentEntry } from "./audit-text.ts";

export interface RefusedCredentialsOptions {
  keys: Pick<Store["keys"], "find">;
  write: (tenant: string, entry: AuditEntry) => Promise<void> | undefined;
  now?: () => number;
  /** How long further attempts are counted before their number is recorded. Default: 10 seconds. */
  windowMs?: number;
}

/** Attempts with one key, or with none that exists. */
interface Attempts {
  tenant: string;
  keyId: string | null;
  /** Those that are not recorded yet. */
  count: number;
  lastAt: number;
}

const WINDOW_MS = 10_000;
/** So many keys are looked up in a window. */
const MAX_LOOKUPS = 100;
const KEY_ID = /^Bearer +nxs_([A-Za-z0-9]{16})(?:_|$)/i;
const NO_KEY = "";

/**
 * Records refused credentials. Of those with the same key, the first is recorded at once, the others of a window as one
 * record with their number: whoever guesses keys must not fill the disk.
 */
export class RefusedCredentials {
  readonly #options: RefusedCredentialsOptions;
  readonly #now: () => number;
  /** By the id of a key that exists; those without one have an entry of their own. */
  readonly #attempts = new Map<string, Attempts>();
  #lookups = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusedCredentialsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async record(headers: IncomingHttpHeaders): Promise<void> {
    const id = KEY_ID.exec(headers.authorization ?? "")?.[1] ?? NO_KEY;
    if (this.#count(id)) return;
    const tenant = id === NO_KEY ? undefined : await this.#findTenant(id);
    const known = tenant === undefined ? NO_KEY : id;
    if (this.#count(known)) return;
    const attempts = {
      tenant: tenant ?? DEFAULT_TENANT,
      keyId: known === NO_KEY ? null : known,
      count: 0,
      lastAt: this.#now(),
    };
    this.#attempts.set(known, attempts);
    this.#timer ??= setTimeout(() => void this.#endWindow(), this.#options.windowMs ?? WINDOW_MS).unref();
    await this.#write(attempts, 1, headers);
  }

  /** Records what was counted and not recorded yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#endWindow();
  }

  /** Whether such an attempt was recorded in this window, so that this one is only counted. */
  #count(id: string): boolean {
    const attempts = this.#attempts.get(id);
    if (!attempts) return false;
    attempts.count++;
    attempts.lastAt = this.#now();
    return true;
  }

  async #findTenant(id: string): Promise<string | undefined> {
    if (++this.#lookups > MAX_LOOKUPS) return undefined;
    const key = await this.#options.keys.find(id).catch(() => undefined);
    return key?.tenant;
  }

  async #endWindow(): Promise<void> {
    this.#timer = undefined;
    this.#lookups = 0;
    const counted = [...this.#attempts.values()].filter(({ count }) => count > 0);
    this.#attempts.clear();
    await Promise.allSettled(counted.map((attempts) => this.#write(attempts, attempts.count)));
  }

  async #write({ tenant, keyId, lastAt: at }: Attempts, count: number, headers?: IncomingHttpHeaders): Promise<void> {
    const facts = { tenant, keyId, at, method: "authenticate", outcome: "refused", errorCode: "AUTH_REQUIRED" };
    const correlation = headers && correlationOf(undefined, headers);
    await this.#options.write(tenant, incidentEntry({ ...facts, correlation, count }));
  }
}
