import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import type { InputAnswers } from "./call-context.ts";
import { CALLER_META } from "../../protocol/meta.ts";
import { REQUEST_STATE_HOURS } from "../../protocol/modern.ts";
import { RpcError } from "./rpc-error.ts";

const LIFETIME_MS = REQUEST_STATE_HOURS * 3_600_000;

/** What one round of a call leaves to the next. */
export interface SealedRound {
  answers: InputAnswers;
  /** The questions that the client got with it. */
  asked: string[];
}

/**
 * Seals the answers of earlier rounds into `requestState`, so that the server keeps nothing between them. The
 * client carries the seal and must be taken as hostile: it is signed, expires and fits one request only.
 */
export class RequestStates {
  readonly #key: Uint8Array;

  /** Whoever has the same key opens what another has sealed. */
  constructor(key: Uint8Array = randomBytes(32)) {
    this.#key = key;
  }

  seal(sealed: SealedRound, request: { method: string; params: Params }): string {
    const expires = Date.now() + LIFETIME_MS;
    const body = JSON.stringify({ ...sealed, expires, request: digestOf(request) });
    return `${Buffer.from(body).toString("base64url")}.${this.#sign(body).toString("base64url")}`;
  }

  /** What is inside. One wording for all causes, so that a forger learns nothing. */
  open(state: unknown, request: { method: string; params: Params }): SealedRound {
    const [body = "", signature = ""] = typeof state === "string" ? state.split(".") : [];
    const text = Buffer.from(body, "base64url").toString("utf8");
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(text);
    if (given.length === expected.length && timingSafeEqual(given, expected)) {
      const sealed: unknown = JSON.parse(text);
      const valid =
        isRecord(sealed) && Number(sealed["expires"]) > Date.now() && sealed["request"] === digestOf(request);
      if (valid) return { answers: sealed["answers"] as InputAnswers, asked: sealed["asked"] as string[] };
    }
    throw new RpcError(INVALID_PARAMS, "The request state is not valid.");
  }

  #sign(body: string): Buffer {
    return createHmac("sha256", this.#key).update(body).digest();
  }
}

/** What must stay the same between the rounds of one request, and who makes it. */
function digestOf({ method, params }: { method: string; params: Params }): string {
  const { name, uri, arguments: args, _meta } = params;
  const caller = isRecord(_meta) ? _meta[CALLER_META] : undefined;
  return createHash("sha256")
    .update(JSON.stringify([method, name, uri, args, caller]))
    .digest("base64url");
}
