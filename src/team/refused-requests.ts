import type { AuditRecord } from "../gateway/operation/audit.ts";
import { isForwarded } from "../protocol/methods.ts";
import { ANYBODY } from "../server/core/principal.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import { incidentEntry, type Incident } from "./audit-text.ts";
import { RepeatedEvents } from "./repeated-events.ts";

export interface RefusedRequestsOptions {
  write: (tenant: string, entry: AuditEntry) => Promise<void> | undefined;
  now?: (() => number) | undefined;
}

type Refused = Pick<Incident, "tenant" | "keyId" | "method">;

/** Requests over a limit cost their caller nothing. Of those of a key with the same method, the first is recorded in full and the others of a window as one. */
export class RefusedRequests {
  readonly #repeated: RepeatedEvents<Refused>;

  constructor({ write, now }: RefusedRequestsOptions) {
    this.#repeated = new RepeatedEvents({
      now,
      write: (refused, { count, lastAt: at }) =>
        write(refused.tenant, incidentEntry({ ...refused, at, outcome: "refused", errorCode: "RATE_LIMITED", count })),
    });
  }

  /** Counts a request over a limit, where there was one like it in this window; false where it has to be recorded. */
  count({ errorCode, principal, method: asked }: AuditRecord): boolean {
    if (errorCode !== "RATE_LIMITED") return false;
    const { tenant, id } = principal;
    // Callers must not be able to make kinds of their own.
    const method = isForwarded(asked) ? asked : "other";
    const kind = JSON.stringify([tenant, id, method]);
    if (this.#repeated.count(kind)) return true;
    this.#repeated.begin(kind, { tenant, keyId: id === ANYBODY.id ? null : id, method });
    return false;
  }

  /** Records what was counted and not recorded yet. */
  close(): Promise<void> {
    return this.#repeated.end();
  }
}
