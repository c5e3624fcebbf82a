import type { IncomingHttpHeaders } from "node:http";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { correlationOf } from "../server/core/correlation.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { Store } from "../store/store.ts";
import { incidentEntry, type Incident } from "./audit-text.ts";
import { RepeatedEvents } from "./repeated-events.ts";

export interface RefusedCredentialsOptions {
  keys: Pick<Store["keys"], "find">;
  write: (tenant: string, entry: AuditEntry) => Promise<void> | undefined;
  now?: () => number;
}

/** With which key an attempt was made, where that exists, and whose it is. */
type Attempted = Pick<Incident, "tenant" | "keyId">;

/** So many keys are looked up in a window. */
const MAX_LOOKUPS = 100;
const KEY_ID = /^Bearer +nxs_([A-Za-z0-9]{16})(?:_|$)/i;
const NO_KEY = "";

/** Records refused credentials: of those with the same key, or with none that exists, the first at once and the others of a window as one. */
export class RefusedCredentials {
  readonly #options: RefusedCredentialsOptions;
  readonly #now: () => number;
  /** By the id of a key that exists; those without one are of one kind. */
  readonly #repeated: RepeatedEvents<Attempted>;
  #lookups = 0;

  constructor(options: RefusedCredentialsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#repeated = new RepeatedEvents({
      now: this.#now,
      write: (attempted, { count, lastAt }) => this.#write({ ...attempted, at: lastAt, count }),
      onEnd: () => (this.#lookups = 0),
    });
  }

  async record(headers: IncomingHttpHeaders): Promise<void> {
    const id = KEY_ID.exec(headers.authorization ?? "")?.[1] ?? NO_KEY;
    if (this.#repeated.count(id)) return;
    const tenant = id === NO_KEY ? undefined : await this.#findTenant(id);
    const known = tenant === undefined ? NO_KEY : id;
    if (this.#repeated.count(known)) return;
    const attempted = { tenant: tenant ?? DEFAULT_TENANT, keyId: known === NO_KEY ? null : known };
    this.#repeated.begin(known, attempted);
    const correlation = correlationOf(undefined, headers);
    await this.#write({ ...attempted, at: this.#now(), count: 1, correlation });
  }

  /** Records what was counted and not recorded yet. */
  close(): Promise<void> {
    return this.#repeated.end();
  }

  async #findTenant(id: string): Promise<string | undefined> {
    if (++this.#lookups > MAX_LOOKUPS) return undefined;
    const key = await this.#options.keys.find(id).catch(() => undefined);
    return key?.tenant;
  }

  #write(attempt: Pick<Incident, "tenant" | "keyId" | "at" | "count" | "correlation">): Promise<void> | undefined {
    const facts = { method: "authenticate", outcome: "refused", errorCode: "AUTH_REQUIRED" };
    return this.#options.write(attempt.tenant, incidentEntry({ ...attempt, ...facts }));
  }
}
