import type { GatewayResources } from "../gateway/operation/gateway-resources.ts";
import type { Params, Result } from "../protocol/json-rpc.ts";
import { ANYBODY, type Principal } from "../server/core/principal.ts";
import type { AuditLog } from "../store/audit/audit-log.ts";

const URI = "nexus://calls";
/** What the resource shows: the newest calls of a day. */
const SHOWN = 100;
const DAY_MS = 86_400_000;

const RESOURCE: Params = {
  uri: URI,
  name: "calls",
  title: "Your calls through this gateway",
  description: `The newest ${SHOWN} calls of the last 24 hours that were made with your API key, without arguments and results.`,
  mimeType: "application/json",
  annotations: { audience: ["user", "assistant"], priority: 0.1 },
};

/** The audit of a caller's own calls, as a resource that it can read. */
export class OwnCalls implements GatewayResources {
  readonly #audit: Pick<AuditLog, "list">;
  readonly #now: () => number;

  constructor(audit: Pick<AuditLog, "list">, now: () => number = Date.now) {
    this.#audit = audit;
    this.#now = now;
  }

  list(principal: Principal): readonly Params[] {
    return hasKey(principal) ? [RESOURCE] : [];
  }

  read(principal: Principal, uri: string): Promise<Result> | undefined {
    return uri === URI && hasKey(principal) ? this.#read(principal) : undefined;
  }

  async #read({ tenant, id: keyId }: Principal): Promise<Result> {
    const filter = { keyId, since: this.#now() - DAY_MS };
    const { items } = await this.#audit.list(tenant, filter, { limit: SHOWN });
    // Whatever the audit keeps of them, arguments and results may be private to somebody who used the key before.
    const calls = items.map(({ arguments: _arguments, result: _result, hash: _hash, ...call }) => call);
    const text = JSON.stringify({ calls }, undefined, 2);
    const contents = [{ uri: URI, mimeType: "application/json", text }];
    return { resultType: "complete", contents, ttlMs: 0, cacheScope: "private" };
  }
}

/** Callers without a key are all the same to the gateway, so none has calls of its own. */
function hasKey({ id }: Principal): boolean {
  return id !== ANYBODY.id;
}
