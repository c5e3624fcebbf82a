import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const LIFE_MS = 5 * 60_000;
const CODE_BYTES = 16;

/** The code of a one-time link: it works once, and for five minutes. */
export class LoginCodes {
  readonly #now: () => number;
  #kept: { hash: Buffer; until: number } | undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A new code; the one before does not work any more. */
  issue(): string {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    this.#kept = { hash: hashOf(code), until: this.#now() + LIFE_MS };
    return code;
  }

  /** True once. A wrong code does not use up the right one. */
  redeem(code: string): boolean {
    const kept = this.#kept;
    if (!kept || !timingSafeEqual(hashOf(code), kept.hash)) return false;
    this.#kept = undefined;
    return kept.until > this.#now();
  }
}

function hashOf(code: string): Buffer {
  return createHash("sha256").update(code).digest();
}
