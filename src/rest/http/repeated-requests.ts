import { sha256 } from "../../text/digest.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { HttpProblem } from "./problem.ts";

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
const MAX_ALL = 5000;
const MAX_KEY = 255;

/** A request as its sender repeats it. */
export interface RepeatableRequest {
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
  readonly #kept = new ExpiringMap<Kept>(DAY_MS, () => {});

  /** Runs the request, or gives the answer of an earlier one. Answers of failures of the gateway itself are not kept. */
  async run(request: RepeatableRequest, handle: () => Promise<KeptAnswer>): Promise<KeptAnswer | HttpProblem> {
    const { principal, key, content } = request;
    if (key.length > MAX_KEY) return tooLong();
    const owner = principalKey(principal);
    const id = sha256(JSON.stringify([owner, key]));
    const fingerprint = sha256(JSON.stringify(content));
    const before = this.#kept.get(id);
    if (before) return before.fingerprint === fingerprint ? before.answer : reused();
    const answer = handle();
    this.#makeRoom(owner);
    this.#kept.set(id, { owner, fingerprint, answer });
    try {
      const given = await answer;
      if (given.status >= 500) this.#kept.delete(id);
      return given;
    } catch (error) {
      this.#kept.delete(id);
      throw error;
    }
  }

  #makeRoom(owner: string): void {
    let own = 0;
    this.#kept.forEach((each) => each.owner === owner && own++);
    if (own >= MAX_EACH) this.#kept.takeOldest((each) => each.owner === owner);
    if (this.#kept.size >= MAX_ALL) this.#kept.takeOldest(() => true);
  }
}

function reused(): HttpProblem {
  return {
    status: 422,
    code: "IDEMPOTENCY_KEY_REUSED",
    detail: "The Idempotency-Key was used for another request",
    hint: "Use a new key for each request that is not a repetition.",
  };
}

function tooLong(): HttpProblem {
  return { status: 400, code: "ARGUMENTS_INVALID", detail: `The Idempotency-Key has more than ${MAX_KEY} characters` };
}
