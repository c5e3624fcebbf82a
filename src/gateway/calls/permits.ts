import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import {
  calledWith,
  decidedAs,
  requestTarget,
  withoutDenied,
  type AccessTarget,
} from "../../host/directory/access-target.ts";
import type { Decision } from "../../host/directory/policy.ts";
import { unknownNameWithAdvice } from "../../host/directory/unknown-name.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Result } from "../../protocol/json-rpc.ts";
import { SEARCHING_TOOLS } from "../../protocol/meta.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { CallRunner, UpstreamCall } from "../upstream/call-runner.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import { judgeListed } from "../access/narrowed.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { unknownMethod, type NamedThing, type ThingKind } from "../names/target.ts";

export interface PermitsOptions {
  access: PrincipalAccess;
  listed: ListedThings;
  calls: Pick<CallRunner, "takeConsent">;
  /** Whether the server has earlier versions, with tools that it does not list any more. */
  hasEarlierTools: (server: string) => boolean;
  /** Names that the caller may have meant, out of those it may see. */
  candidates: (kind: ThingKind, exchange: GatewayExchange) => readonly string[];
  logger: Logger;
}

type Pass = (call: UpstreamCall) => Promise<Result>;

/** The decision about a call, and the listings that it is about. */
interface JudgedCall {
  decision: Decision;
  target: AccessTarget;
  versions: readonly AccessTarget[];
  /** Whether it is a tool that the server does not list, but may have in an earlier version. */
  isEarlier?: boolean;
}

interface Judging {
  call: UpstreamCall;
  judged: JudgedCall | Promise<JudgedCall>;
}

/** Checks requests against the rules. A refusal looks the same as a name that does not exist. */
export class Permits {
  readonly #options: PermitsOptions;

  constructor(options: PermitsOptions) {
    this.#options = options;
  }

  /** Runs `pass` if the caller may use the thing. */
  async use(thing: NamedThing, exchange: GatewayExchange, pass: Pass): Promise<Result> {
    const { server, kind, params, shown } = thing;
    const call: UpstreamCall = { server, method: exchange.method, params, exchange, shown };
    const judged = this.#judge(call);
    const { receipt } = exchange;
    if (receipt && !(judged instanceof Promise)) receipt.definition = judged.target.definition;
    // The usual case of each call waits for nothing.
    if (!(judged instanceof Promise) && kind !== "resource" && this.#isPlain(judged, thing))
      return judged.target.findsIn === undefined ? pass(call) : this.#withoutDenied(judged.target, call, pass);
    return this.#useJudged(thing, { call, judged }, pass);
  }

  async #useJudged({ kind, given, refusal }: NamedThing, { call, judged }: Judging, pass: Pass): Promise<Result> {
    const unknown = () => unknownNameWithAdvice(kind, given, this.#options.candidates(kind, call.exchange));
    const decided = await judged;
    const { receipt } = call.exchange;
    if (receipt) receipt.definition = decided.target.definition;
    const permitted = await this.#permit(call, decided, refusal);
    if (!permitted) throw unknown();
    if (decided.target.findsIn !== undefined) return this.#withoutDenied(decided.target, permitted, pass);
    const mayBeUnknown = kind === "resource" || decided.isEarlier === true;
    return mayBeUnknown ? this.#hidingUnknown(pass(permitted), INVALID_PARAMS, unknown) : pass(permitted);
  }

  /** A tool that the caller may not call is not found either. */
  async #withoutDenied(target: AccessTarget, call: UpstreamCall, pass: Pass): Promise<Result> {
    const { access } = this.#options;
    const { principal } = call.exchange;
    return withoutDenied(await pass(call), target, (tool) => access.decide(principal, tool).kind !== "denied");
  }

  #isPlain({ decision, target, isEarlier }: JudgedCall, { refusal }: NamedThing): boolean {
    return (
      decision.kind === "allowed" && !isEarlier && refusal === undefined && !this.#options.access.pins(target.server)
    );
  }

  /** The same for a method that the gateway does not know. */
  async useMethod(call: UpstreamCall, pass: Pass): Promise<Result> {
    const unknown = () => unknownMethod(call.method);
    const permitted = await this.#permit(call, await this.#judge(call));
    if (!permitted) throw unknown();
    return this.#hidingUnknown(pass(permitted), METHOD_NOT_FOUND, unknown);
  }

  /**
   * Whether the principal may know of a task: decided by the tool that created it, or by the server if the tool is no
   * longer listed.
   */
  async mayFollow({ server, tool }: TaskPlace, principal: Principal): Promise<boolean> {
    const { access, listed } = this.#options;
    if (access.isOpen("tool", server)) return true;
    if (!access.sees(principal, server)) return false;
    const made = await listed.findAny("tools", server, tool).catch(() => undefined);
    return access.allows(principal, { kind: "task", server, tool: made });
  }

  /** The call if it is permitted, with consent noted; otherwise undefined. Nobody is asked for consent to what is refused. */
  async #permit(
    call: UpstreamCall,
    { decision, target, versions }: JudgedCall,
    refusal?: NexusError,
  ): Promise<UpstreamCall | undefined> {
    const { logger } = this.#options;
    if (decision.kind !== "denied" && this.#options.access.pins(call.server))
      await this.#requireAccepted(versions, target);
    if (refusal && decision.kind !== "denied") throw refusal;
    if (decision.kind === "allowed") return call;
    if (decision.kind === "needs-consent" && (await this.#isConsented(call, target))) {
      return { ...call, isConsented: true };
    }
    const reason = decision.kind === "denied" ? decision.reason : "consent was denied";
    const [what, who] = [target.name, call.exchange.principal.id].map((text) => JSON.stringify(text));
    const { receipt } = call.exchange;
    if (receipt) receipt.isDenied = true;
    logger.debug(`the ${target.kind} ${what} of "${call.server}" was denied for ${who}: ${reason}`);
    return undefined;
  }

  /** A held definition is refused with its own error, but only for callers that may use it otherwise. */
  async #requireAccepted(versions: readonly AccessTarget[], target: AccessTarget): Promise<void> {
    const { access, listed } = this.#options;
    const { kind, server, name } = target;
    await listed.compared(server);
    if (kind === "tool" || kind === "prompt") {
      for (const version of versions) access.requireAccepted(kind === "tool" ? "tools" : "prompts", version);
    } else if (kind === "resource") {
      const resource = await listed.findResource(server, name);
      if (resource) access.requireAccepted(resource.list, resource.target);
    }
  }

  async #isConsented(call: UpstreamCall, target: AccessTarget): Promise<boolean> {
    const { access, calls } = this.#options;
    const { params, exchange } = call;
    const { principal, signal } = exchange;
    if (calls.takeConsent(call)) return true;
    const args = target.kind === "method" ? params : params["arguments"];
    return access.askConsent(principal, { target, arguments: args, signal });
  }

  /** Tools and prompts are decided as they are listed; one that is not listed is denied. A promise only if a list must be read. */
  #judge({ server, method, params, exchange }: UpstreamCall): JudgedCall | Promise<JudgedCall> {
    const { access, listed } = this.#options;
    const { principal } = exchange;
    const requested = requestTarget(server, method, params);
    const target = decidedAs(requested);
    const { kind, name } = target;
    if (kind !== "tool" && kind !== "prompt")
      return { decision: access.decide(principal, requested), target, versions: [] };
    // Who may not see the server has not come this far.
    const versions = listed.find(kind === "tool" ? "tools" : "prompts", server, name, exchange);
    const judge = (found: readonly AccessTarget[]) => {
      const called = found.map((version) => calledWith(version, params["arguments"]));
      const isUnlisted = called.length === 0 && kind === "tool" && exchange.endpoint.kind !== "set";
      return (
        (isUnlisted ? this.#judgeEarlier(principal, target) : undefined) ?? this.#judgeListed(principal, target, called)
      );
    };
    return versions instanceof Promise ? versions.then(judge) : judge(versions);
  }

  #judgeListed(principal: Principal, target: AccessTarget, versions: readonly AccessTarget[]): JudgedCall {
    const { decision, version } = judgeListed(this.#options.access, principal, versions);
    return { decision, target: version ?? target, versions };
  }

  /**
   * A tool of an earlier version, which clients may still call. What it does is not known here, so that it is decided like
   * one that destroys, and only if no consent is needed. Tools that call others are decided by what they list.
   */
  #judgeEarlier(principal: Principal, target: AccessTarget): JudgedCall | undefined {
    const { access, hasEarlierTools } = this.#options;
    const { server, name } = target;
    if (!hasEarlierTools(server) || access.pins(server) || SEARCHING_TOOLS.includes(name)) return undefined;
    const earlier = { ...target, annotations: { readOnlyHint: false, destructiveHint: true } };
    const decision = access.decide(principal, earlier);
    return decision.kind === "allowed" ? { decision, target: earlier, versions: [], isEarlier: true } : undefined;
  }

  /**
   * Where single names are hidden, the server's own message for an unknown name would reveal which names are hidden.
   */
  async #hidingUnknown(answer: Promise<Result>, code: number, unknown: () => NexusError): Promise<Result> {
    if (!this.#options.access.judgesNames) return answer;
    return answer.catch((error: unknown) => {
      throw error instanceof NexusError && error.details.rpc?.code === code ? unknown() : error;
    });
  }
}
