import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import {
  type AccessTarget,
  calledWith,
  decidedAs,
  requestTarget,
  withoutDenied,
} from "../../host/directory/access-target.ts";
import type { Decision } from "../../host/directory/policy.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Result } from "../../protocol/json-rpc.ts";
import { SEARCHING_TOOLS } from "../../protocol/meta.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { CallRunner, UpstreamCall } from "../calls/upstream-call.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { type NamedThing, unknownMethod } from "../names/names.ts";
import type { GatewayRequest, Next } from "./request.ts";
import type { Selection } from "./selection.ts";

interface PermitsOptions {
  selection: Selection;
  listed: ListedThings;
  calls: Pick<CallRunner, "takeConsent">;
  logger: Logger;
}

/** The decision about a call, and the listings that it is about. */
interface JudgedCall {
  decision: Decision;
  target: AccessTarget;
  versions: readonly AccessTarget[];
  /** Whether it is a tool that the server does not list, but may have in an earlier version. */
  isEarlier?: boolean;
}

/** Checks requests against the rules. A refusal looks the same as a name that does not exist. */
export class Permits {
  readonly #options: PermitsOptions;

  constructor(options: PermitsOptions) {
    this.#options = options;
  }

  /** Hands on the use of a thing if the caller may use it. Whether it may know of the server is part of the same decision. */
  use(request: GatewayRequest, thing: NamedThing, next: Next): Promise<Result> {
    const { access } = this.#options.selection;
    const { server, kind, params, shown, refusal } = thing;
    const { exchange } = request;
    const call = (request.call = callOf(server, params, { exchange, shown }));
    if (access.isOpen(kind, server)) {
      if (exchange.endpoint.kind === "one") this.requireSeen(request, thing);
      else request.isSeen = true;
      return next(request);
    }
    const judged = this.#judgeKnown(thing, exchange);
    // The usual case of each call waits for nothing.
    if (judged?.decision.kind !== "allowed" || refusal !== undefined || access.pins(server))
      return this.#useSlowly(request, thing, { call, judged, next });
    this.#note(request, judged);
    if (judged.target.findsIn !== undefined) return this.#withoutDenied(judged.target, request, next);
    return kind === "resource" ? this.#hidingUnknown(next(request), thing, request) : next(request);
  }

  /** Where a list has to be read, or something is refused: who may not know of the server causes nothing, and learns nothing. */
  async #useSlowly(
    request: GatewayRequest,
    thing: NamedThing,
    { call, judged, next }: { call: UpstreamCall; judged: JudgedCall | undefined; next: Next },
  ): Promise<Result> {
    this.requireSeen(request, thing);
    const decided = judged ?? (await this.#judge(thing, request.exchange));
    this.#note(request, decided);
    if (!(await this.#permit(request, call, decided, thing.refusal))) {
      throw this.#options.selection.unknown(thing, request.exchange);
    }
    if (decided.target.findsIn !== undefined) return this.#withoutDenied(decided.target, request, next);
    const mayBeUnknown = thing.kind === "resource" || decided.isEarlier === true;
    return mayBeUnknown ? this.#hidingUnknown(next(request), thing, request) : next(request);
  }

  /** Throws what callers are told of a server that they may not know of. */
  requireSeen(request: GatewayRequest, thing: NamedThing): void {
    if (request.isSeen === true) return;
    const { endpoint, principal } = request.exchange;
    const { selection } = this.#options;
    request.isSeen = selection.sees(thing.server, principal);
    if (request.isSeen) return;
    // At its own address the server itself is what does not exist.
    if (endpoint.kind === "one") selection.get(thing.server, principal);
    throw selection.unknown(thing, request.exchange);
  }

  #note(request: GatewayRequest, { target }: JudgedCall): void {
    request.isSeen = true;
    const { receipt } = request.exchange;
    if (receipt) receipt.definition = target.definition;
  }

  /** A tool that the caller may not call is not found either. */
  async #withoutDenied(target: AccessTarget, request: GatewayRequest, next: Next): Promise<Result> {
    const { access } = this.#options.selection;
    const { principal } = request.exchange;
    return withoutDenied(await next(request), target, (tool) => access.decide(principal, tool).kind !== "denied");
  }

  /** The same for a method that the gateway does not know. */
  async useMethod(request: GatewayRequest, server: string, next: Next): Promise<Result> {
    const { selection } = this.#options;
    const { exchange } = request;
    const call = (request.call = callOf(server, exchange.params, { exchange, shown: undefined }));
    selection.get(server, exchange.principal);
    if (selection.access.isOpen("method", server)) return next(request);
    const target = decidedAs(requestTarget(server, call.method, call.params));
    if (!(await this.#permit(request, call, this.#judgeUnlisted(target, exchange)))) throw unknownMethod(call.method);
    return this.#hiding(next(request), METHOD_NOT_FOUND, () => unknownMethod(call.method));
  }

  /**
   * Whether the principal may know of a task: decided by the tool that created it, or by the server if the tool is no
   * longer listed.
   */
  async mayFollow({ server, tool }: TaskPlace, principal: Principal): Promise<boolean> {
    const { listed } = this.#options;
    const { access } = this.#options.selection;
    if (access.isOpen("tool", server)) return true;
    if (!access.sees(principal, server)) return false;
    const made = await listed.findAny("tools", server, tool).catch(() => undefined);
    return access.allows(principal, { kind: "task", server, tool: made });
  }

  /** Whether it is permitted; consent is noted in the call. Nobody is asked for consent to what is refused. */
  async #permit(
    request: GatewayRequest,
    call: UpstreamCall,
    { decision, target, versions }: JudgedCall,
    refusal?: NexusError,
  ): Promise<boolean> {
    const { logger, selection } = this.#options;
    if (decision.kind !== "denied" && selection.access.pins(call.server)) await this.#requireAccepted(versions, target);
    if (refusal && decision.kind !== "denied") throw refusal;
    if (decision.kind === "allowed") return true;
    if (decision.kind === "needs-consent" && (await this.#isConsented(call, target))) {
      call.isConsented = true;
      return true;
    }
    const reason = decision.kind === "denied" ? decision.reason : "consent was denied";
    const { receipt, principal } = request.exchange;
    const [what, who] = [target.name, principal.id].map((text) => JSON.stringify(text));
    if (receipt) receipt.isDenied = true;
    logger.debug(`the ${target.kind} ${what} of "${call.server}" was denied for ${who}: ${reason}`);
    return false;
  }

  /** A held definition is refused with its own error, but only for callers that may use it otherwise. */
  async #requireAccepted(versions: readonly AccessTarget[], target: AccessTarget): Promise<void> {
    const { listed } = this.#options;
    const { access } = this.#options.selection;
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
    const { calls, selection } = this.#options;
    const { params, exchange } = call;
    const { principal, signal } = exchange;
    if (calls.takeConsent(call)) return true;
    const args = target.kind === "method" ? params : params["arguments"];
    return selection.access.askConsent(principal, { target, arguments: args, signal });
  }

  /** The decision where no list has to be read for it. */
  #judgeKnown({ kind, server, name, params }: NamedThing, exchange: GatewayExchange): JudgedCall | undefined {
    const target: AccessTarget = { kind, server, name };
    if (kind === "resource") return this.#judgeUnlisted(target, exchange);
    const versions = this.#options.listed.findKnown(kind === "tool" ? "tools" : "prompts", server, name, exchange);
    return versions && this.#judgeVersions(target, versions, { params, exchange });
  }

  /** Tools and prompts are decided as they are listed; one that is not listed is denied. */
  async #judge({ kind, server, name, params }: NamedThing, exchange: GatewayExchange): Promise<JudgedCall> {
    const list = kind === "tool" ? "tools" : "prompts";
    const found = await this.#options.listed.find(list, server, name, exchange);
    return this.#judgeVersions({ kind, server, name }, found, { params, exchange });
  }

  #judgeUnlisted(target: AccessTarget, { principal }: GatewayExchange): JudgedCall {
    return { decision: this.#options.selection.access.decide(principal, target), target, versions: [] };
  }

  #judgeVersions(
    target: AccessTarget,
    found: readonly AccessTarget[],
    { params, exchange }: Pick<UpstreamCall, "params" | "exchange">,
  ): JudgedCall {
    const { principal, endpoint } = exchange;
    const versions = calledVersions(found, params["arguments"]);
    const isUnlisted = versions.length === 0 && target.kind === "tool" && endpoint.kind !== "set";
    const earlier = isUnlisted ? this.#judgeEarlier(principal, target) : undefined;
    if (earlier) return earlier;
    const { decision, version } = this.#options.selection.access.judgeListed(principal, versions);
    return { decision, target: version ?? target, versions };
  }

  /**
   * A tool of an earlier version, which clients may still call. What it does is not known here, so that it is decided like
   * one that destroys, and only if no consent is needed. Tools that call others are decided by what they list.
   */
  #judgeEarlier(principal: Principal, target: AccessTarget): JudgedCall | undefined {
    const { selection } = this.#options;
    const { access } = selection;
    const { server, name } = target;
    if (!selection.hasEarlierTools(server) || access.pins(server) || SEARCHING_TOOLS.includes(name)) return undefined;
    const earlier = { ...target, annotations: { readOnlyHint: false, destructiveHint: true } };
    const decision = access.decide(principal, earlier);
    return decision.kind === "allowed" ? { decision, target: earlier, versions: [], isEarlier: true } : undefined;
  }

  #hidingUnknown(answer: Promise<Result>, thing: NamedThing, { exchange }: GatewayRequest): Promise<Result> {
    return this.#hiding(answer, INVALID_PARAMS, () => this.#options.selection.unknown(thing, exchange));
  }

  /**
   * Where single names are hidden, the server's own message for an unknown name would reveal which names are hidden.
   */
  async #hiding(answer: Promise<Result>, code: number, unknown: () => NexusError): Promise<Result> {
    if (!this.#options.selection.access.judgesNames) return answer;
    return answer.catch((error: unknown) => {
      throw error instanceof NexusError && error.details.rpc?.code === code ? unknown() : error;
    });
  }
}

/** Mostly there is one, and it calls no other tool. */
function calledVersions(found: readonly AccessTarget[], args: unknown): readonly AccessTarget[] {
  const [first] = found;
  if (found.length === 1 && first?.callsBy === undefined) return found;
  return found.map((version) => calledWith(version, args));
}

/** Written out, because a copy of members costs several times as much. */
function callOf(
  server: string,
  params: UpstreamCall["params"],
  { exchange, shown }: Pick<UpstreamCall, "exchange" | "shown">,
): UpstreamCall {
  return { server, method: exchange.method, params, exchange, isConsented: undefined, seen: undefined, shown };
}
