import { createHash, randomBytes } from "node:crypto";
import { callListener } from "../../async/call-listener.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { Principal } from "../../server/core/principal.ts";
import { SILENT } from "../../text/logger.ts";

/** A browser that has signed in. It lives in this process. */
export interface Session {
  /** Undefined: through the one-time link. */
  readonly principal: Principal | undefined;
  /** Sent with every request that changes something. */
  readonly csrfToken: string;
  /** It ends then at the latest, by `Date.now()`. */
  readonly until: number;
}

interface SessionsOptions {
  /** Default: 12 hours. */
  lifeMs?: number;
  /** It ends earlier if it was not used for so long; default: an hour. */
  idleMs?: number;
  /** Of more, own ones and then those of the tenant with most that were not used for longest end; default: 1,000. */
  max?: number;
  now?: () => number;
}

const HOUR_MS = 3_600_000;
const SECRET_BYTES = 32;
/** Of one key. */
const MAX_EACH = 20;

/** Sessions of browsers. Only hashes of their ids are kept. */
export class Sessions {
  readonly #lifeMs: number;
  readonly #max: number;
  readonly #now: () => number;
  readonly #byHash: ExpiringMap<Session>;
  readonly #onEnded = new Set<(session: Session) => void>();

  constructor({ lifeMs = 12 * HOUR_MS, idleMs = HOUR_MS, max = 1000, now = Date.now }: SessionsOptions = {}) {
    this.#lifeMs = lifeMs;
    this.#max = max;
    this.#now = now;
    this.#byHash = new ExpiringMap(idleMs, (session) => this.#tell(session));
  }

  /** The id is for the cookie and is not kept. One who signs in again and again ends only own sessions. */
  open(principal?: Principal): { id: string; session: Session } {
    const id = randomBytes(SECRET_BYTES).toString("base64url");
    const csrfToken = randomBytes(SECRET_BYTES).toString("base64url");
    const session: Session = { principal, csrfToken, until: this.#now() + this.#lifeMs };
    this.#makeRoom(principal?.id);
    this.#byHash.set(hashOf(id), session);
    return { id, session };
  }

  /** Also counts as a use. */
  find(id: string): Session | undefined {
    const hash = hashOf(id);
    const session = this.#byHash.get(hash);
    if (!session) return undefined;
    if (session.until > this.#now()) {
      this.#byHash.set(hash, session);
      return session;
    }
    this.end((each) => each === session);
    return undefined;
  }

  end(isMeant: (session: Session) => boolean): void {
    for (const session of this.#byHash.takeAll(isMeant)) this.#tell(session);
  }

  /** Those who signed in with a key. */
  principals(): Principal[] {
    const found: Principal[] = [];
    this.#byHash.forEach(({ principal }) => principal && found.push(principal));
    return found;
  }

  /** Calls the listener for each session that ends. Returns a function that stops this. */
  onEnded(listener: (session: Session) => void): () => void {
    this.#onEnded.add(listener);
    return () => this.#onEnded.delete(listener);
  }

  #makeRoom(owner: string | undefined): void {
    const isOwn = (session: Session) => session.principal?.id === owner;
    let own = 0;
    this.#byHash.forEach((each) => isOwn(each) && own++);
    const isFull = this.#byHash.size >= this.#max;
    const oldest = own >= MAX_EACH || (isFull && own > 0) ? this.#byHash.takeOldest(isOwn) : undefined;
    const ended = oldest ?? (isFull ? this.#takeOfLargestTenant() : undefined);
    if (ended) this.#tell(ended);
  }

  /** So that a tenant with many keys does not end the sessions of another one. */
  #takeOfLargestTenant(): Session | undefined {
    const counts = new Map<string, number>();
    for (const { tenant } of this.principals()) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    const [largest] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ["", 0]);
    return this.#byHash.takeOldest(({ principal }) => principal?.tenant === largest);
  }

  #tell(session: Session): void {
    for (const listener of this.#onEnded) callListener(() => listener(session), SILENT);
  }
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}
