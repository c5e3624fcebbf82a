import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { isOneHop, listRequestedBy } from "../../protocol/methods.ts";
import type { Exchange } from "../../server/core/core.ts";
import { type NamedThing, thingIn, unknownMethod } from "../names/names.ts";
import type { View } from "../names/view.ts";
import { findGatewayUri } from "../operation/gateway-resources.ts";
import type { Outcome } from "../operation/audit.ts";
import type { UpstreamCall } from "../calls/upstream-call.ts";
import type { Selection } from "./selection.ts";

/** A request as its edge hands it over. What is found out about it stays with it. */
export type EndpointExchange = Exchange<View, GatewayRequest>;

/** What says which server a request is for. */
export type AskedRequest = Pick<EndpointExchange, "endpoint" | "principal" | "method" | "params" | "called">;

/** What a request is for, found from its endpoint, method and parameters alone. */
export type ResolvedTarget =
  | { kind: "list"; list: ListKind }
  /** One of the tools with which a search view finds and describes others. */
  | { kind: "catalog"; tool: string }
  /** The id of a task contains its server. */
  | { kind: "task"; server: string | undefined }
  | { kind: "thing"; thing: NamedThing }
  /** A method that the gateway does not know may be an extension of the one server of an endpoint. */
  | { kind: "method"; server: string }
  /** A resource of the gateway itself, unless the caller has none of this name. */
  | { kind: "own"; uri: string; otherwise: ResolvedTarget }
  | { kind: "nothing"; problem: () => NexusError };

export interface ResolvedRequest {
  /** What its endpoint shows; undefined for a set that does not exist, or that the caller may not use. */
  selection: Selection | undefined;
  target: ResolvedTarget;
}

/** What happens to a request: it does its part, and hands the request on. */
export type Stage = (request: GatewayRequest, next: Next) => Promise<Result>;
export type Next = (request: GatewayRequest) => Promise<Result>;

/** The stages as one function; the first is the outermost. */
export function chain(stages: readonly Stage[], last: Next): Next {
  return stages.reduceRight((next: Next, stage) => (request) => stage(request, next), last);
}

/** What a request is for, in metrics, records, the log and traces. */
export interface RequestLabels {
  /** The tool, prompt, resource or task: in the caller's name, or in a set by its full name. */
  name: string | undefined;
  /** Empty where there is none that the caller may know of. */
  server: string;
  /** The tool by its own name, if it is a call of one. */
  tool: string | undefined;
  /** Whether its arguments are not recorded: they are words of a search. */
  isSearch?: boolean;
}

/** What has been found out about a request. */
interface KnownRequest {
  /** Undefined while the servers of its tenant are not open. */
  resolved: ResolvedRequest | undefined;
  /** Whether the caller may know of the server. Undefined until something has decided it. */
  isSeen?: boolean | undefined;
}

/** Filled from what the request was resolved to. */
export function labelsOf(asked: AskedRequest, { resolved, isSeen }: KnownRequest): RequestLabels {
  const { endpoint, principal, method, params, called } = asked;
  const thing = resolved?.target.kind === "thing" ? resolved.target.thing : undefined;
  const given = called?.name ?? params["name"] ?? params["uri"] ?? params["taskId"];
  let name = typeof given === "string" ? given : undefined;
  if (resolved?.target.kind === "catalog") return { name, server: "", tool: undefined, isSearch: true };
  if (endpoint.kind === "set" && thing && thing.given === name && thing.kind !== "resource") {
    name = resolved?.selection?.fullNameOf(thing) ?? name;
  }
  let server = endpoint.kind === "one" ? endpoint.server : "";
  // Callers must not create metrics, or learn from them, by guessing names. Of what was decided this is known.
  if (thing && (isSeen ?? resolved?.selection?.sees(thing.server, principal))) ({ server } = thing);
  if (method !== "tools/call") return { name, server, tool: undefined };
  // A tool that another one was asked to call may not exist.
  return { name, server, tool: called && thing?.given !== called.name ? called.name : thing?.name };
}

/** A request on its way through the stages: it is resolved once and decided once. */
export class GatewayRequest implements KnownRequest {
  readonly exchange: EndpointExchange;
  resolved: ResolvedRequest | undefined;
  isSeen: boolean | undefined;
  /** What is sent to the server, made when it is decided. */
  call: UpstreamCall | undefined;
  /** Whether it got past the limits. */
  hasBegun: boolean;
  outcome: Outcome;
  failure: NexusError | undefined;

  constructor(exchange: EndpointExchange) {
    this.exchange = exchange;
    this.resolved = undefined;
    this.isSeen = undefined;
    this.call = undefined;
    this.hasBegun = false;
    this.outcome = "refused";
    this.failure = undefined;
  }

  /** That of an exchange, made when something is first asked about it. */
  static of(exchange: EndpointExchange): GatewayRequest {
    return (exchange.state ??= new GatewayRequest(exchange));
  }
}

/** What a request is for. No rules are asked: whether the caller may know of it is decided later. */
export function targetOf(asked: AskedRequest, selection: Selection): ResolvedTarget {
  const { endpoint: view, method, params } = asked;
  if (isOneHop(method)) return nothing(() => unknownMethod(method));
  const list = listRequestedBy(method);
  if (list) return { kind: "list", list };
  if (method.startsWith("tasks/")) return { kind: "task", server: undefined };
  try {
    const thing = thingIn(method, params, view, selection);
    if (thing) {
      const target: ResolvedTarget =
        thing.server === undefined
          ? nothing(() => selection.unknown(thing, asked))
          : { kind: "thing", thing: selection.set?.prepare(thing, method) ?? thing };
      // A set is only what somebody chose for it.
      const uri = thing.kind === "resource" && view.kind !== "set" ? findGatewayUri(method, params) : undefined;
      return uri === undefined ? target : { kind: "own", uri, otherwise: target };
    }
  } catch (problem) {
    return nothing(() => asNexusError(problem));
  }
  return view.kind === "one" ? { kind: "method", server: view.server } : nothing(() => unknownMethod(method));
}

function nothing(problem: () => NexusError): ResolvedTarget {
  return { kind: "nothing", problem };
}
