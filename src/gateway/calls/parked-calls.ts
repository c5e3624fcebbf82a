import { randomUUID } from "node:crypto";
import { Roster } from "../../async/roster.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { FairShares, Share } from "../../async/fair-shares.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { undeclared } from "../../protocol/question-capabilities.ts";
import type { ByteBudget, ByteClaim } from "../../server/core/byte-budget.ts";
import type { GatewayExchange } from "../names/view.ts";
import { shareReclaimablePlaces } from "../../server/core/caller-shares.ts";
import { principalKey } from "../../server/core/principal.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { FinishedCalls, weighed, type Finished, type FinishedLimits } from "./finished-calls.ts";
import { ParkedCall, type Reply, type Work } from "./parked-call.ts";
import { weightOf } from "../../json/weight.ts";
import { capabilityMissing } from "../upstream/upstream-answer.ts";
import { digestOf, invalidState, type RequestStates } from "./request-state.ts";

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
