import { NexusError } from "../../errors/nexus-error.ts";
import { refusal } from "../../operations/failure.ts";
import { sha256 } from "../../text/digest.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { shareKept } from "../../server/core/caller-shares.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";

/** An answer that can be given again. */
export interface KeptAnswer {
  status: number;
  headers: [string, string][];
  body: string;
}

interface Kept {
  owner: string;
  fingerprint: string;
  answer: Promise<KeptAnswer>;
}

const DAY_MS = 24 * 3_600_000;
const MAX_EACH = 200;
/** Shared fairly between tenants. */
const MAX_ALL = 5000;
const MAX_KEY = 255;

/** A request as its sender repeats it. */
interface RepeatableRequest {
  principal: Principal;
  /** The value of the header `Idempotency-Key`. */
  key: string;
  /** Method, path and body. */
  content: readonly string[];
}

/**
 * Answers of requests with the header `Idempotency-Key`: a repeated request gets the first answer and has no effect. They are
 * kept in this process for a day, for each principal apart.
 */
export class RepeatedRequests {
  readonly #kept = new ExpiringMap<Kept>(DAY_MS, (kept) => this.#gone(kept));
  readonly #shares = shareKept(MAX_ALL, { areTenantsSeparate: true });

  /** Runs the request, or gives the answer of an earlier one. Failures are not kept. */
  async run(request: RepeatableRequest, handle: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const { principal, key, content } = request;
    if (key.length > MAX_KEY) throw tooLong();
    const owner = principalKey(principal);
    const id = sha256(JSON.stringify([owner, key]));
    const fingerprint = sha256(JSON.stringify(content));
    const before = this.#kept.get(id);
    if (before && before.fingerprint !== fingerprint) throw reused();
    if (before) return before.answer;
    const answer = handle();
    this.#makeRoom(owner);
    this.#shares.take(this.#shares.of(owner));
    const kept = { owner, fingerprint, answer };
    this.#kept.set(id, kept);
    try {
      return await answer;
    } catch (error) {
      this.#drop(id, kept);
      throw error;
    }
  }

  /** Unless it made room meanwhile, and the same request came again. */
  #drop(id: string, kept: Kept): void {
    if (this.#kept.get(id) === kept) this.#gone(this.#kept.take(id));
  }

  #makeRoom(owner: string): void {
    const share = this.#shares.of(owner);
    if (share.held >= MAX_EACH) this.#dropOldest(owner);
    this.#shares.makeRoom(share, ({ key }) => this.#dropOldest(key));
  }

  /** False if the principal has none. */
  #dropOldest(owner: string): boolean {
    return this.#gone(this.#kept.takeOldest((each) => each.owner === owner));
  }

  /** False if there was none. */
  #gone(kept: Kept | undefined): boolean {
    if (!kept) return false;
    this.#shares.give(this.#shares.of(kept.owner));
    return true;
  }
}

function reused(): NexusError {
  const hint = "Use a new key for each request that is not a repetition.";
  return refusal("IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was used for another request", hint);
}

function tooLong(): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The Idempotency-Key has more than ${MAX_KEY} characters`, {
    mayHaveReached: false,
  });
}
