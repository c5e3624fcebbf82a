import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import type { Principal } from "../server/core/principal.ts";
import { unknownTenant } from "../store/keep/tenants.ts";
import { mayEnter, mayUse, type Actor } from "./actor.ts";
import { statusOf, writtenCode } from "./failure.ts";
import { isRecorded, type AnyOperation, type OperationCall } from "./operation.ts";
import type { Store } from "../store/store.ts";
import type { StoredAudit } from "../team/stored-audit.ts";

/** A request that changes something, or would have, by someone who is known. */
interface RecordedChange {
  /** As in the path; undefined where it has none, or one that the actor may not enter. */
  tenant: string | undefined;
  actor: Actor;
  /** `rest/createKey`. */
  method: string;
  /** The name or id of what it is about. */
  target: string | undefined;
  outcome: "ok" | "refused" | "error";
  errorCode: string | null;
  /** Milliseconds since 1970. */
  at: number;
  durationMs: number;
}

interface RunnerOptions<S> {
  services: S;
  /** Where requests come from: the first part of the method in records. */
  surface: "rest" | "cli";
  /** Counts a request against the limits of its sender; rejects with RATE_LIMITED. */
  admit?: ((principal: Principal) => Promise<void>) | undefined;
  /** Throws where no change can be recorded now and none may be made without. */
  requireRecordable?: ((tenant: string) => Promise<void> | void) | undefined;
  /** Records a change. Where it rejects, the caller gets that error instead of the answer. */
  record?: ((change: RecordedChange) => Promise<void>) | undefined;
}

/** A request of an operation, as its surface knows it. */
interface OperationRequest<C, T> {
  params: Readonly<Record<string, string>>;
  /** Throws where the caller is not known. */
  identify: () => Promise<Actor>;
  /** Throws what is not valid in it. */
  read: () => Promise<object>;
  call: () => C;
  /** What the surface makes of the answer. */
  answer: (run: RunningOperation) => Promise<T>;
}

/** A request that may be handled, and what becomes known of it. */
export interface RunningOperation {
  /** Undefined for an operation that is for everybody. */
  actor: Actor | undefined;
  /** Undefined until it was read. */
  input: object | undefined;
  handle: () => Promise<unknown>;
  /** There is nothing to record: it got the answer of an earlier one, or cannot be recorded. */
  isUnrecorded: boolean;
}

/** Runs operations for a surface: who asks, how often, what they may do, whether that can be recorded; then does it and records it. */
export class OperationRunner<S, C = OperationCall> {
  readonly #options: RunnerOptions<S>;

  constructor(options: RunnerOptions<S>) {
    this.#options = options;
  }

  async run<T>(operation: AnyOperation<S, C>, request: OperationRequest<C, T>): Promise<T> {
    const running: RunningOperation = {
      actor: undefined,
      input: undefined,
      // It was read by the form of the operation. One that is for everybody does not look at its actor.
      handle: () =>
        operation.handle(
          this.#options.services,
          running.actor ?? ({} as Actor),
          running.input as never,
          request.call(),
        ),
      isUnrecorded: false,
    };
    const [at, start] = [Date.now(), performance.now()];
    const record = (failure?: NexusError) => this.#record(operation, request, running, { at, start, failure });
    const value = await this.#run(operation, request, running).catch(async (thrown: unknown) => {
      await record(asNexusError(thrown));
      throw thrown;
    });
    await record();
    return value;
  }

  async #run<T>(operation: AnyOperation<S, C>, request: OperationRequest<C, T>, running: RunningOperation): Promise<T> {
    const { access, http } = operation;
    const { params, identify, read, answer } = request;
    if (access !== "public") {
      const actor = await identify();
      running.actor = actor;
      await this.#options.admit?.(actor.principal);
      if (!mayUse(actor, access)) throw roleTooLow(access);
      const { tenant } = params;
      if (tenant !== undefined && http.path.includes("{tenant}") && !mayEnter(actor, tenant))
        throw new NexusError("NAME_UNKNOWN", unknownTenant(tenant).message, { mayHaveReached: false });
    }
    running.input = await read();
    if (isRecorded(operation)) await this.#requireRecordable(params, running);
    return answer(running);
  }

  async #requireRecordable({ tenant }: Readonly<Record<string, string>>, running: RunningOperation): Promise<void> {
    const { actor } = running;
    if (!actor) return;
    running.isUnrecorded = true;
    await this.#options.requireRecordable?.(tenant ?? actor.principal.tenant);
    running.isUnrecorded = false;
  }

  async #record<T>(
    operation: AnyOperation<S, C>,
    { params }: OperationRequest<C, T>,
    { actor, input, isUnrecorded }: RunningOperation,
    { at, start, failure }: { at: number; start: number; failure: NexusError | undefined },
  ): Promise<void> {
    const { record, surface } = this.#options;
    if (!record || !actor || isUnrecorded || !isRecorded(operation)) return;
    const { tenant } = params;
    await record({
      tenant: tenant !== undefined && mayEnter(actor, tenant) ? tenant : undefined,
      actor,
      method: `${surface}/${operation.id}`,
      target: targetOf(params, input),
      outcome: failure === undefined ? "ok" : REFUSED.has(statusOf(failure)) ? "refused" : "error",
      errorCode: failure === undefined ? null : writtenCode(failure),
      at,
      durationMs: performance.now() - start,
    });
  }
}

const REFUSED: ReadonlySet<number> = new Set([403, 404, 429]);

/** The name or id of what a request is about, as far as it says so. */
function targetOf(params: Readonly<Record<string, string>>, input: object = {}): string | undefined {
  const inPath = params["id"] ?? params["name"];
  if (inPath !== undefined || !isRecord(input)) return inPath ?? params["tenant"];
  const { name, server, changes, before } = input;
  for (const named of [name, server, before]) if (typeof named === "string") return named;
  if (!Array.isArray(changes)) return params["tenant"];
  return changes.flatMap((each: unknown) => (isRecord(each) ? [String(each["id"])] : [])).join(" ");
}

function roleTooLow(access: string): NexusError {
  const [needed, maker, key] =
    access === "all-tenants"
      ? ["an admin of all tenants", "An admin of all tenants", "{createKey role=admin allTenants=true}"]
      : [`the role ${access}`, "An admin", `{createKey role=${access}}`];
  const hint = `Use a key that may do this. ${maker} makes one: ${key}`;
  return new NexusError("FORBIDDEN", `This needs ${needed}`, { hint, mayHaveReached: false });
}

/** In the audit of the tenant that it is about, or of the actor where there is no such tenant, for example any more. */
export async function recordChange(
  store: Pick<Store, "tenants">,
  audit: Pick<StoredAudit, "recordIncident">,
  { actor, tenant: named, ...facts }: RecordedChange,
): Promise<void> {
  const { tenant: own } = actor.principal;
  const isOther = named !== undefined && named !== own && (await store.tenants.find(named)) !== undefined;
  const decision = facts.outcome === "refused" ? "denied" : "allowed";
  const who = { keyId: actor.keyId ?? null, account: actor.account };
  await audit.recordIncident({ ...facts, ...who, decision, tenant: isOther ? named : own });
}
