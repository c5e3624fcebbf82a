import type { IncomingHttpHeaders } from "node:http";
import { Live } from "../async/live.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { AccessTarget } from "../host/directory/access-target.ts";
import type { Decision } from "../host/directory/policy.ts";
import type { Door } from "../gateway/access/door.ts";
import { ANYBODY, KnownPrincipal, type Principal } from "../server/core/principal.ts";
import type { ApiKey, ApiKeys, KeyWithHashes } from "../store/keep/api-keys.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import { hashOfKey } from "../store/keep/key-text.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";
import { Grants } from "./grants.ts";

export interface KeyDoorOptions {
  store: Pick<Store, "keys" | "changes">;
  /** `when-there-are-keys`: until the first key is created, everybody may come in. */
  needs: "keys" | "when-there-are-keys";
  logger: Logger;
  now?: () => number;
  /** Default: 10,000. */
  maxKnown?: number;
  /** How long keys that were verified before are believed while the database is away: 60 seconds. */
  believedMs?: number;
}

const BELIEVED_MS = 60_000;
/** Of more keys, those that are not used are forgotten: they are verified again. */
const MAX_KNOWN = 10_000;
/** The last use of a key is written down at most so often. */
const USE_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const BEARER = /^Bearer +(\S+) *$/i;

/** Lets callers in by their API keys, and says what each key may see and use. */
export class KeyDoor implements Door, Disposable {
  readonly decidesAlike = true;
  readonly #keys: ApiKeys;
  readonly #options: KeyDoorOptions;
  readonly #now: () => number;
  /** By the hash of the whole key. */
  readonly #known = new Map<string, VerifiedKey>();
  readonly #byId = new Map<string, VerifiedKey>();
  readonly #usedAt = new Map<string, number>();
  /** With who is present, as each listener knows it. */
  readonly #onExpelled = new Map<(principal: Principal) => void, () => Iterable<Principal>>();
  readonly #onReplaced = new Set<(principal: Principal) => void>();
  readonly #reading: Live<void>;
  /** When so many keys are known, some are forgotten. */
  #forgetAt: number;
  #isNeeded: boolean;
  #notices = 0;
  /** When the timer for expired keys is needed first. */
  #firstExpiry = Infinity;
  #expiry: NodeJS.Timeout | undefined;

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: KeyDoorOptions): Promise<KeyDoor> {
    const door = new KeyDoor(options);
    await door.#reading.follow();
    // Counted afterwards, so that no first key is missed.
    door.#isNeeded ||= await options.store.keys.areRequired();
    return door;
  }

  private constructor(options: KeyDoorOptions) {
    this.#options = options;
    this.#keys = options.store.keys;
    this.#now = options.now ?? Date.now;
    this.#forgetAt = options.maxKnown ?? MAX_KNOWN;
    this.#isNeeded = options.needs === "keys";
    const changes = options.store.changes.of("keys");
    this.#reading = new Live<void>(undefined, {
      changes: (changed) =>
        changes(() => {
          this.#notices++;
          changed();
        }),
      read: () => this.#read(),
      what: "changes of API keys",
      logger: options.logger,
    });
  }

  /** Whether callers need a key. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** While the database is away, keys that were verified before are believed for a time; then nobody with a key can come in. */
  get isOpen(): boolean {
    return !this.#isNeeded || this.#isBelieved;
  }

  get decide(): Door["decide"] {
    return this.#isNeeded ? this.#decide : undefined;
  }

  /** A promise only if the database must be asked: the keys of most requests are known. */
  readonly authenticate = ({ authorization }: IncomingHttpHeaders): Principal | Promise<Principal> => {
    const text = BEARER.exec(authorization ?? "")?.[1];
    // A key that is given is the way in, whether or not one is needed: it is never replaced by another way.
    if (!this.#isNeeded && text?.startsWith("nxs_") !== true) return ANYBODY;
    if (text === undefined) throw refused("This gateway needs an API key");
    const hash = hashOfKey(text);
    const known = this.#find(hash);
    return known ? this.#admit(known) : this.#verify(text, hash).then(this.#admit);
  };

  readonly #admit = ({ about, principal }: VerifiedKey): Principal => {
    this.#recordUse(about.id);
    return principal;
  };

  admits(principal: Principal): boolean {
    return principal === ANYBODY ? !this.#isNeeded : this.#byId.has(principal.id);
  }

  /** The key of a principal that was let in; undefined if it is not valid any more. */
  findKey({ id }: Principal): ApiKey | undefined {
    return this.#byId.get(id)?.about;
  }

  seesMetrics({ id }: Principal): boolean {
    const role = this.#byId.get(id)?.about.role;
    return !this.#isNeeded || role === "operator" || role === "admin";
  }

  /** The limits of its key; undefined where nothing is limited. */
  readonly limitsOf = ({ id }: Principal): RequestLimits | undefined => this.#byId.get(id)?.limits;

  /** Calls the listener for each principal who may not come in any more: what it has open must end. Returns a function that stops this. */
  onExpelled(listener: (principal: Principal) => void, present: () => Iterable<Principal> = () => []): () => void {
    this.#onExpelled.set(listener, present);
    return () => this.#onExpelled.delete(listener);
  }

  /** Calls the listener for each principal whose secret no longer works, though its key does. Returns a function that stops this. */
  onReplaced(listener: (principal: Principal) => void): () => void {
    this.#onReplaced.add(listener);
    return () => this.#onReplaced.delete(listener);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#expiry);
    this.#reading[Symbol.dispose]();
  }

  readonly #decide = ({ id }: Principal, _operation: unknown, target: AccessTarget): Decision => {
    return this.#byId.get(id)?.grants.decide(target) ?? { kind: "denied", reason: "the key is not valid any more" };
  };

  #find(hash: string): VerifiedKey | undefined {
    const known = this.#known.get(hash);
    if (!known || known.until <= this.#now()) return undefined;
    return this.#isBelieved ? known : undefined;
  }

  /** Whether what is known of keys counts. */
  get #isBelieved(): boolean {
    const { silentSince } = this.#options.store.changes;
    const { believedMs = BELIEVED_MS } = this.#options;
    return silentSince === undefined || performance.now() - silentSince < believedMs;
  }

  async #verify(text: string, hash: string): Promise<VerifiedKey> {
    if (this.#options.store.changes.silentSince !== undefined) throw databaseAway();
    const before = this.#notices;
    const found = await this.#keys.findByText(text).catch((cause: unknown) => {
      throw isAway(cause) ? databaseAway(cause) : cause;
    });
    // What was read before a change may be what the change ended.
    if (this.#notices !== before) return this.#verify(text, hash);
    const known = this.#known.get(hash);
    const verified = found && verifiedKey(found.about, this.#now(), { until: found.until, before: known });
    if (!verified) throw refused("The API key is not valid");
    this.#keep(hash, verified);
    // The notice of the first key may come later than its first use.
    this.#needKeys();
    return verified;
  }

  #keep(hash: string, verified: VerifiedKey): void {
    if (this.#byId.size >= this.#forgetAt) this.#forgetUnused();
    this.#known.set(hash, verified);
    this.#byId.set(verified.about.id, verified);
    if (verified.until < this.#firstExpiry) this.#expireInTime();
  }

  /** Keys that came in lately stay, and those of principals that have something open. */
  #forgetUnused(): void {
    const { maxKnown = MAX_KNOWN } = this.#options;
    const present = new Set<string>();
    for (const list of this.#onExpelled.values()) for (const { id } of list()) present.add(id);
    // The last use is up to one interval later than what was noted; one that was verified just now is noted next.
    const since = this.#now() - 2 * USE_MS;
    for (const id of this.#byId.keys()) {
      if (present.has(id) || (this.#usedAt.get(id) ?? Infinity) > since) continue;
      this.#byId.delete(id);
      this.#usedAt.delete(id);
    }
    for (const [hash, { about }] of this.#known) if (!this.#byId.has(about.id)) this.#known.delete(hash);
    // Where most are in use, this is not repeated for each new one.
    this.#forgetAt = Math.max(maxKnown, this.#byId.size * 2);
  }

  /** What is known of keys, as it is now. */
  async #read(): Promise<void> {
    if (!this.#isNeeded && (await this.#keys.areRequired())) this.#needKeys();
    const ids = [...this.#byId.keys()];
    const verified = [...this.#known];
    const rows = await this.#keys.findAll(ids);
    for (const id of ids) this.#replace(id, rows.get(id)?.about);
    for (const [hash, known] of verified) this.#renew(hash, known, rows.get(known.about.id));
    this.#expireInTime();
  }

  #replace(id: string, about: VerifiedKey["about"] | undefined): void {
    const now = about && verifiedKey(about, this.#now());
    if (now) this.#byId.set(id, now);
    else this.#expel(id);
  }

  /** Whether a secret still works, and until when. One that was verified meanwhile is as new. */
  #renew(hash: string, known: VerifiedKey, row: KeyWithHashes | undefined): void {
    if (this.#known.get(hash) !== known) return;
    const until = row?.hashes.get(hash) ?? 0;
    const now = row && verifiedKey(row.about, this.#now(), { until, before: known });
    if (now) this.#known.set(hash, now);
    else this.#forget(hash, known);
  }

  #forget(hash: string, { about, principal }: VerifiedKey): void {
    this.#known.delete(hash);
    if (!this.#byId.has(about.id)) return;
    for (const listener of this.#onReplaced) listener(principal);
  }

  #needKeys(): void {
    // The notice of the first key and its first use may come at the same time.
    if (this.#isNeeded) return;
    this.#isNeeded = true;
    this.#options.logger.info("the first API key was created: callers need a key from now on");
    this.#tell(ANYBODY);
  }

  #expel(id: string): void {
    const known = this.#byId.get(id);
    this.#byId.delete(id);
    this.#usedAt.delete(id);
    if (known) this.#tell(known.principal);
  }

  #tell(principal: Principal): void {
    for (const listener of this.#onExpelled.keys()) listener(principal);
  }

  /** One timer for the key or the secret that expires first. */
  #expireInTime(): void {
    clearTimeout(this.#expiry);
    let first = Infinity;
    for (const { about } of this.#byId.values()) first = Math.min(first, about.expiresAt ?? Infinity);
    for (const { until } of this.#known.values()) first = Math.min(first, until);
    this.#firstExpiry = first;
    if (first === Infinity) return;
    const ms = Math.max(1, Math.min(first - this.#now(), LONGEST_TIMER_MS));
    this.#expiry = setTimeout(() => this.#expire(), ms).unref();
  }

  #expire(): void {
    const now = this.#now();
    for (const [id, { about }] of this.#byId) if ((about.expiresAt ?? Infinity) <= now) this.#expel(id);
    for (const [hash, known] of this.#known) if (known.until <= now) this.#forget(hash, known);
    this.#expireInTime();
  }

  #recordUse(id: string): void {
    const now = this.#now();
    if (now - (this.#usedAt.get(id) ?? -Infinity) < USE_MS) return;
    this.#usedAt.set(id, now);
    // Nothing depends on it.
    this.#keys.recordUse(id).catch(() => {});
  }
}

function refused(message: string): NexusError {
  return new NexusError("AUTH_REQUIRED", `${message}. Send a valid one as "Authorization: Bearer nxs_…"`, {
    mayHaveReached: false,
  });
}

function isAway(cause: unknown): boolean {
  return cause instanceof NexusError && cause.code === "STORE_UNAVAILABLE";
}

/** Whoever reads it is not known yet: it names neither the database nor its user. */
function databaseAway(cause?: unknown): NexusError {
  return new NexusError("STORE_UNAVAILABLE", "API keys cannot be verified: the database of the gateway is away", {
    cause,
    mayHaveReached: false,
  });
}

/** A key whose secret was compared. Everything that follows from it is worked out once. */
interface VerifiedKey {
  readonly about: ApiKey;
  /** The same object for as long as the secret is known, and another one for each secret. */
  readonly principal: Principal;
  readonly grants: Grants;
  /** Undefined where nothing is limited. */
  readonly limits: RequestLimits | undefined;
  /** The text that was compared works until then: the key expires, or it is the secret before a rotation. */
  readonly until: number;
}

/** Undefined where the key may not be used. `until`: of this secret alone. `before`: what this secret stood for. */
function verifiedKey(
  about: ApiKey,
  now: number,
  { until = Infinity, before }: { until?: number; before?: VerifiedKey | undefined } = {},
): VerifiedKey | undefined {
  const end = Math.min(until, about.expiresAt ?? Infinity);
  if (about.revokedAt !== undefined || end <= now) return undefined;
  const principal = before?.principal ?? new KnownPrincipal(about);
  const limits = Object.keys(about.limits).length === 0 ? undefined : about.limits;
  return { about, principal, grants: new Grants(about.grants), limits, until: end };
}
