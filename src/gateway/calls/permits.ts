import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { decidedAs, requestTarget, type AccessTarget } from "../../host/directory/access-target.ts";
import type { Decision } from "../../host/directory/policy.ts";
import { unknownNameWithAdvice } from "../../host/directory/unknown-name.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Result } from "../../protocol/json-rpc.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { CallRunner, UpstreamCall } from "../upstream/call-runner.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import { decideListed } from "../access/narrowed.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { unknownMethod, type NamedThing, type ThingKind } from "../names/target.ts";

export interface PermitsOptions {
  access: PrincipalAccess;
  listed: ListedThings;
  calls: Pick<CallRunner, "takeConsent">;
  /** What the caller may have meant, of what it may see. */
  candidates: (kind: ThingKind, exchange: GatewayExchange) => readonly string[];
  logger: Logger;
}

type Pass = (call: UpstreamCall) => Promise<Result>;

/** Lets requests pass where there are rules. What is refused is answered in the words for what does not exist. */
export class Permits {
  readonly #options: PermitsOptions;

  constructor(options: PermitsOptions) {
    this.#options = options;
  }

  /** Runs `pass` if the caller may use the thing. */
  async use(thing: NamedThing, exchange: GatewayExchange, pass: Pass): Promise<Result> {
    const { server, kind, given, params } = thing;
    const unknown = () => unknownNameWithAdvice(kind, given, this.#options.candidates(kind, exchange));
    const permitted = await this.#permit({ server, method: exchange.method, params, exchange });
    if (!permitted) throw unknown();
    return kind === "resource" ? this.#hidingUnknown(pass(permitted), INVALID_PARAMS, unknown) : pass(permitted);
  }

  /** The same for a method that is not known here. */
  async useMethod(call: UpstreamCall, pass: Pass): Promise<Result> {
    const unknown = () => unknownMethod(call.method);
    const permitted = await this.#permit(call);
    if (!permitted) throw unknown();
    return this.#hidingUnknown(pass(permitted), METHOD_NOT_FOUND, unknown);
  }

  /** Whether the principal may know of a task: as the tool that made it, or as the server where that is listed no more. */
  async mayFollow({ server, tool }: TaskPlace, principal: Principal): Promise<boolean> {
    const { access, listed } = this.#options;
    if (access.isOpen("tool", server)) return true;
    if (!access.sees(principal, server)) return false;
    const made = await listed.findAny("tools", server, tool).catch(() => undefined);
    return access.allows(principal, { kind: "task", server, tool: made });
  }

  /** The call as it may be made; undefined where it may not. */
  async #permit(call: UpstreamCall): Promise<UpstreamCall | undefined> {
    const { logger } = this.#options;
    const { decision, target } = await this.#judge(call);
    if (decision.kind === "allowed") return call;
    if (decision.kind === "needs-consent" && (await this.#isConsented(call, target))) {
      return { ...call, isConsented: true };
    }
    const reason = decision.kind === "denied" ? decision.reason : "consent was denied";
    const [what, who] = [target.name, call.exchange.principal.id].map((text) => JSON.stringify(text));
    logger.debug(`the ${target.kind} ${what} of "${call.server}" was denied for ${who}: ${reason}`);
    return undefined;
  }

  async #isConsented(call: UpstreamCall, target: AccessTarget): Promise<boolean> {
    const { access, calls } = this.#options;
    const { params, exchange } = call;
    const { principal, signal } = exchange;
    if (calls.takeConsent(call)) return true;
    const args = target.kind === "method" ? params : params["arguments"];
    return access.askConsent(principal, { target, arguments: args, signal });
  }

  /** Tools and prompts are judged as they are listed: what is not listed is as good as unknown. */
  async #judge({
    server,
    method,
    params,
    exchange,
  }: UpstreamCall): Promise<{ decision: Decision; target: AccessTarget }> {
    const { access, listed } = this.#options;
    const { principal } = exchange;
    const requested = requestTarget(server, method, params);
    const target = decidedAs(requested);
    const { kind, name } = target;
    if (kind !== "tool" && kind !== "prompt") return { decision: access.decide(principal, requested), target };
    const isSeen = access.sees(principal, server);
    const versions = isSeen ? await listed.find(kind === "tool" ? "tools" : "prompts", server, name, exchange) : [];
    const decision = decideListed(access, principal, versions);
    const judged = versions.find((version) => access.decide(principal, version).kind === decision.kind);
    return { decision, target: judged ?? target };
  }

  /** Where single names are hidden, a server's own words for an unknown one would tell the two apart. */
  async #hidingUnknown(answer: Promise<Result>, code: number, unknown: () => NexusError): Promise<Result> {
    if (!this.#options.access.judgesNames) return answer;
    return answer.catch((error: unknown) => {
      throw error instanceof NexusError && error.details.rpc?.code === code ? unknown() : error;
    });
  }
}
