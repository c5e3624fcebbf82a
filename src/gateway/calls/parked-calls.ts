import { randomUUID } from "node:crypto";
import { Roster } from "../../async/roster.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Question } from "../../protocol/mcp.ts";
import { undeclared } from "../../protocol/question-capabilities.ts";
import type { ByteBudget, ByteClaim } from "../../server/core/byte-budget.ts";
import type { GatewayExchange } from "../names/view.ts";
import { shareReclaimablePlaces } from "../../server/core/caller-shares.ts";
import { principalKey } from "../../server/core/principal.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { weightOf } from "../../json/weight.ts";
import { capabilityMissing, tellLog, tellProgress, traceFor } from "./upstream-call.ts";
import { digestOf, invalidState, type RequestStates } from "./request-state.ts";
import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { ParkedQuestions } from "./parked-questions.ts";

export interface ParkedLimits extends FinishedLimits {
  /** How long to wait for further questions after the first: 50 ms. */
  gatherMs: number;
  /** How often one call may ask: 50 times. */
  rounds: number;
}

/** A call whose caller was asked at least once. */
interface Parked extends Finished {
  call: ParkedCall;
  /** Memory for its parameters. */
  claim: ByteClaim;
  binding: string;
  /** How often the caller was asked. */
  rounds: number;
}

/** Calls that wait for answers from their callers; number and time are limited. */
export class ParkedCalls {
  readonly #limits: ParkedLimits;
  readonly #states: RequestStates;
  readonly #budget: ByteBudget;
  readonly #unattended: ExpiringMap<Parked>;
  /** Shares of the limit on parked calls. */
  readonly #shares: FairShares;
  /** Calls whose callers are back and wait for the next reply. */
  readonly #attended = new Map<string, Parked>();
  /** Finished calls, kept in case an answer was lost and its caller asks again. */
  readonly #finished: FinishedCalls<Parked>;
  /** All calls that are still running at their servers. */
  readonly #running = new Roster<ParkedCall>();

  constructor(limits: ParkedLimits, states: RequestStates, budget: ByteBudget) {
    this.#limits = limits;
    this.#states = states;
    this.#budget = budget;
    this.#unattended = new ExpiringMap(limits.parkedMs, (parked) =>
      this.#giveUp(parked, "The client did not answer in time"),
    );
    this.#shares = shareReclaimablePlaces(limits.parked, limits);
    this.#finished = new FinishedCalls(limits);
  }

  get size(): number {
    return this.#unattended.size;
  }

  /** Calls that are not over at their servers. */
  get running(): number {
    return this.#running.size;
  }

  /** Runs the work until it ends or asks a question. `binding` is called only if it asks. */
  async begin(
    work: Work,
    {
      exchange,
      capabilities,
      binding,
    }: { exchange: GatewayExchange; capabilities: ClientCapabilities; binding: () => string },
  ): Promise<Result> {
    const { caller } = exchange;
    const call = new ParkedCall(work, { first: exchange, capabilities, gatherMs: this.#limits.gatherMs });
    const number = this.#running.enter(call);
    void call.over.then(() => this.#running.leave(number));
    const reply = await call.next(exchange);
    if (reply.kind === "ended") return reply.result;
    const principal = principalKey(exchange.principal);
    const share = this.#shares.of(principal);
    // Calls whose callers are back count as running calls, not as parked ones.
    if (!this.#shares.reclaim(share, (loser) => this.#giveUpOldest(loser))) {
      call.giveUp("Limit of calls that wait for answers reached");
      throw cannotWait(`the limit of parked calls is reached (${this.#shares.limitOf(share)})`);
    }
    const claim = this.#budget.claim(principal);
    if (!claim.resize(weightOf(exchange.params))) {
      call.giveUp("The memory limit for parked calls is reached");
      throw cannotWait("the memory limit for parked calls is reached");
    }
    void call.over.then(() => claim.release());
    const id = randomUUID();
    const { owner } = caller;
    return this.#tell({ id, call, owner, principal, claim, binding: binding(), taken: [], bytes: 0, rounds: 0 }, reply);
  }

  /** Continues a call. The same answers to the same round get the same reply; different answers are refused. */
  resume(state: { call: string; round: number }, responses: unknown, exchange: GatewayExchange): Promise<Result> {
    const { call: id } = state;
    const parked = this.#unattended.get(id) ?? this.#attended.get(id) ?? this.#finished.get(id);
    if (!parked) throw invalidState();
    const answers = digestOf(responses ?? null);
    const taken = parked.taken[state.round];
    if (taken) {
      if (taken.answers !== answers) throw invalidState();
      if (state.round === parked.rounds) parked.call.attend(exchange);
      return taken.reply;
    }
    if (this.#unattended.take(id)) this.#shares.give(this.#shares.of(parked.principal));
    parked.claim.giveUpBy(undefined);
    this.#attended.set(id, parked);
    const reply = this.#goOn(parked, responses, exchange);
    parked.taken[state.round] = { answers, reply };
    return reply;
  }

  /** Gives up the calls of an owner that is gone. */
  release(owner: string): void {
    const isTheirs = (one: Parked) => one.owner === owner;
    for (const parked of this.#unattended.takeAll(isTheirs)) this.#giveUp(parked, "The caller's session has ended");
    this.#finished.release(owner);
  }

  /** Resolves when those that are running now have ended at their servers. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values().map(({ over }) => over));
  }

  /** Gives up all calls. Resolves when they have ended at their servers. */
  async close(): Promise<void> {
    this.#unattended.takeAll();
    this.#finished.clear();
    for (const call of this.#running.values()) call.giveUp("The gateway is closing");
    await this.settled();
  }

  async #goOn(parked: Parked, responses: unknown, exchange: GatewayExchange): Promise<Result> {
    try {
      const reply = await parked.call.answer(responses, exchange);
      const lacking = reply.kind === "asked" ? undeclared(reply.questions, exchange.caller.capabilities) : undefined;
      if (!lacking) return this.#tell(parked, reply);
      parked.call.giveUp("The caller can no longer be asked");
      throw capabilityMissing(
        lacking,
        `The server requires ${capabilityNames(lacking)}, which this request does not declare`,
      );
    } catch (error) {
      this.#finish(parked);
      throw error;
    }
  }

  #tell(parked: Parked, reply: Reply): Result {
    if (reply.kind === "ended") {
      weighed(parked, reply.result);
      this.#finish(parked);
      return reply.result;
    }
    if (++parked.rounds > this.#limits.rounds) {
      parked.call.giveUp("The server asked too many times");
      throw new NexusError("INPUT_FAILED", `The server asked ${parked.rounds} times without finishing`, {
        mayHaveReached: true,
      });
    }
    this.#attended.delete(parked.id);
    this.#shares.take(this.#shares.of(parked.principal));
    this.#unattended.set(parked.id, parked);
    parked.claim.giveUpBy(() => {
      if (this.#unattended.take(parked.id)) this.#giveUp(parked, OTHERS_NEED_IT);
    });
    const state = { kind: "parked", call: parked.id, round: parked.rounds } as const;
    return weighed(parked, {
      resultType: "input_required",
      inputRequests: reply.questions,
      requestState: this.#states.seal(state, parked.binding),
    });
  }

  /** Gives up a call that is no longer in the map. */
  #giveUp({ call, principal }: Parked, reason: string): void {
    this.#shares.give(this.#shares.of(principal));
    call.giveUp(reason);
  }

  /** False if the principal has no parked call. */
  #giveUpOldest({ key }: Share): boolean {
    const parked = this.#unattended.takeOldest(({ principal }) => principal === key);
    if (parked) this.#giveUp(parked, OTHERS_NEED_IT);
    return parked !== undefined;
  }

  #finish(parked: Parked): void {
    this.#attended.delete(parked.id);
    this.#finished.keep(parked);
  }
}

const OTHERS_NEED_IT = "Other callers need this slot";

function cannotWait(why: string): NexusError {
  const message = `The server asked for input, but ${why}; try again later`;
  return new NexusError("INPUT_FAILED", message, { mayHaveReached: true });
}

/** A caller that waits for the next reply of a call. */
type Listener = Pick<GatewayExchange, "caller" | "signal">;

/** A reply to the caller: the result, or the questions that it must answer first. */
type Reply = { kind: "ended"; result: Result } | { kind: "asked"; questions: Record<string, Question> };

/** The call at the server. It runs once, no matter how often its caller comes back. */
export type Work = (options: WorkOptions) => Promise<Result>;

interface WorkOptions extends CallOptions {
  signal: CancelSignal;
  input: InputProvider;
}

/**
 * A call whose server asks questions while it runs, for a caller that gets questions as a result and comes back with
 * answers. The call stays open at the server; its progress is kept until the caller is back.
 */
class ParkedCall {
  /** Resolves when the call has ended at the server. Never rejects. */
  readonly over: Promise<void>;
  readonly #questions = new ParkedQuestions(() => this.#gather());
  readonly #cancelled = new Cancellation();
  readonly #gatherMs: number;
  /** The callers that wait now, and the function that removes their abort listener. */
  readonly #listeners = new Map<Listener, () => void>();
  #outcome: { result: Result } | { error: unknown } | undefined;
  #turn: { resolve: (reply: Reply) => void; reject: (error: unknown) => void } | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(
    work: Work,
    { first, capabilities, gatherMs }: { first: GatewayExchange; capabilities: ClientCapabilities; gatherMs: number },
  ) {
    this.#gatherMs = gatherMs;
    const { caller } = first;
    const options: WorkOptions = {
      correlationId: first.correlationId,
      trace: traceFor(first),
      observed: first,
      signal: this.#cancelled,
      input: { capabilities, handle: (question, { signal }) => this.#questions.ask(question, signal) },
    };
    if (caller.progressToken !== undefined) options.onProgress = (progress) => this.#tell(tellProgress, progress);
    if (caller.logLevel) {
      options.logLevel = caller.logLevel;
      options.onNotification = (said) => this.#tell(tellLog, said);
    }
    this.over = work(options).then(
      (result) => this.#settle({ result }),
      (error: unknown) => this.#settle({ error }),
    );
  }

  /** Waits for the next reply. If there is one already, resolves at once. */
  next(listener: Listener): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#turn = { resolve, reject };
      this.attend(listener);
      if (this.#outcome || this.#questions.size > 0) this.#reply();
    });
  }

  /** Adds a caller that waits for the next reply. If all of them leave before it comes, the call is cancelled. */
  attend(listener: Listener): void {
    if (!this.#turn) return;
    const left = () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#cancelled.abort(listener.signal.reason);
    };
    this.#listeners.set(listener, left);
    if (listener.signal.aborted) left();
    else listener.signal.addEventListener("abort", left, { once: true });
  }

  /** Continues with these answers. Questions without an answer are asked again. */
  answer(responses: unknown, listener: Listener): Promise<Reply> {
    this.#questions.answer(responses);
    return this.next(listener);
  }

  /** Refuses open questions and cancels the call at the server, because the caller will not come back. */
  giveUp(reason: string): void {
    this.#questions.refuse();
    // The refusals must be sent before the cancellation; sending them takes several microtasks.
    queueMicrotask(() => process.nextTick(() => this.#cancelled.abort(new NexusError("CANCELLED", reason))));
  }

  #tell<T>(tell: (caller: GatewayExchange["caller"], said: T) => void, said: T): void {
    for (const { caller } of this.#listeners.keys()) tell(caller, said);
  }

  /**
   * Servers often ask several questions one after the other: waits a moment, so that they reach the caller together.
   */
  #gather(): void {
    if (this.#turn) this.#gathering ??= setTimeout(() => this.#reply(), this.#gatherMs);
  }

  #settle(outcome: { result: Result } | { error: unknown }): void {
    this.#outcome = outcome;
    this.#reply();
  }

  #reply(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const turn = this.#turn;
    if (!turn || (!this.#outcome && this.#questions.size === 0)) return;
    this.#turn = undefined;
    for (const [{ signal }, left] of this.#listeners) signal.removeEventListener("abort", left);
    this.#listeners.clear();
    if (!this.#outcome) turn.resolve({ kind: "asked", questions: this.#questions.requests() });
    else if ("error" in this.#outcome) turn.reject(this.#outcome.error);
    else turn.resolve({ kind: "ended", result: this.#outcome.result });
  }
}

interface FinishedLimits {
  /** Maximum number of parked calls, and of finished calls that are kept: 256. */
  parked: number;
  /** How long they are kept: ten minutes. */
  parkedMs: number;
  /** Maximum size of the answers of all finished calls that are kept: 32 MiB. */
  keptBytes: number;
  /** The part of these that one principal may use while others compete, from 0 to 1. */
  share?: number | undefined;
}

/** A finished call with all its answers. */
export interface Finished {
  id: string;
  owner: string;
  /** The key of the principal whose share it uses. */
  principal: string;
  /** For each round, a digest of the caller's answers and the reply. */
  taken: { answers: string; reply: Promise<Result> }[];
  /** The size of the replies. */
  bytes: number;
}

/**
 * Finished calls, kept for callers that ask again because an answer was lost. Number, size and time are limited: a
 * caller that comes back later is refused, and nothing is run again.
 */
export class FinishedCalls<T extends Finished> {
  readonly #calls: ExpiringMap<T>;
  readonly #places: FairShares;
  readonly #bytes: FairShares;

  constructor({ parked, parkedMs, keptBytes, share }: FinishedLimits) {
    this.#calls = new ExpiringMap(parkedMs, (call) => this.#gone(call));
    this.#places = new FairShares(parked, { share });
    this.#bytes = new FairShares(keptBytes, { share });
  }

  /** The size of what is kept. */
  get bytes(): number {
    return this.#bytes.used;
  }

  get(id: string): T | undefined {
    return this.#calls.get(id);
  }

  keep(call: T): void {
    const [place, bytes] = [this.#places.of(call.principal), this.#bytes.of(call.principal)];
    if (call.bytes > this.#bytes.limitOf(bytes)) return;
    const dropOldest = ({ key }: Share) => this.#gone(this.#calls.takeOldest(({ principal }) => principal === key));
    if (!this.#places.makeRoom(place, dropOldest) || !this.#bytes.makeRoom(bytes, dropOldest, call.bytes)) return;
    this.#calls.set(call.id, call);
    this.#places.take(place);
    this.#bytes.take(bytes, call.bytes);
  }

  release(owner: string): void {
    for (const call of this.#calls.takeAll((one) => one.owner === owner)) this.#gone(call);
  }

  clear(): void {
    for (const call of this.#calls.takeAll()) this.#gone(call);
  }

  /** False if there was none. */
  #gone(call: T | undefined): boolean {
    if (!call) return false;
    this.#places.give(this.#places.of(call.principal));
    this.#bytes.give(this.#bytes.of(call.principal), call.bytes);
    return true;
  }
}

/** Adds the size of a reply to the call. */
function weighed(call: Finished, result: Result): Result {
  call.bytes += weightOf(result);
  return result;
}
