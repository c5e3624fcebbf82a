import { NexusError } from "../../errors/nexus-error.ts";
import { type AccessTarget, otherTarget } from "../../host/directory/access-target.ts";
import { unknownNameWithAdvice } from "../../host/directory/unknown-name.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { CALL_TOOL, DESCRIBE_TOOL, SEARCHING_TOOLS } from "../../protocol/meta.ts";
import type { ShownTool, ShownTools } from "../../protocol/shown-tools.ts";
import type { Catalogs } from "../lists/catalogs.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import type { NamedThing } from "../names/names.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { GatewayRequest } from "./request.ts";
import type { Selection } from "./selection.ts";

/**
 * Tools of an API that find, describe or call others of it. A call that names another tool is the call of that tool: what
 * decides about it, changes it, counts it and records it sees nothing else.
 */
export class CalledTools {
  readonly #catalogs: Catalogs;
  readonly #listed: ListedThings;

  constructor(catalogs: Catalogs, listed: ListedThings) {
    this.#catalogs = catalogs;
    this.#listed = listed;
  }

  /** What only an API in this process says of its tools is believed. AskedRequest for every call. */
  concerns({ kind, server, name }: NamedThing): boolean {
    return kind === "tool" && SEARCHING_TOOLS.includes(name) && this.#catalogs.isApi(server);
  }

  /**
   * What the request is for, which is noted in it. `given` is one of these tools, with the arguments that a set fixes; who
   * may not see its server has not come this far.
   */
  async resolve(given: NamedThing, request: GatewayRequest, selection: Selection): Promise<NamedThing> {
    const tools = await this.#listed.commonTools(given.server);
    const way = tools.get(given.name);
    // An API may have a tool of its own with such a name, or had others in an earlier version.
    if (way ? !way.isWay : !selection.hasEarlierTools(given.server)) return given;
    const { exchange } = request;
    const looked = { given, exchange, selection, tools };
    const thing = given.name === CALL_TOOL ? this.#called(looked, way) : this.#informed(looked, way);
    if (request.resolved) request.resolved.target = { kind: "thing", thing };
    return thing;
  }

  #informed(looked: LookedUp, way: AccessTarget | undefined): NamedThing {
    if (!way || !this.#sees(looked, way)) return looked.given;
    return looked.given.name === DESCRIBE_TOOL ? this.#described(looked) : this.#found(looked);
  }

  #called(looked: LookedUp, way: AccessTarget | undefined): NamedThing {
    const { given, exchange, selection, tools } = looked;
    const { server, params, refusal } = given;
    const named = isRecord(params["arguments"]) ? params["arguments"] : {};
    const { name } = named;
    const own = typeof name === "string" ? this.#resolveName(looked, name) : undefined;
    const target = own === undefined ? undefined : tools.get(own);
    // Whoever has nothing to call with it does not know of it.
    const isHidden = way ? target?.through === undefined && !this.#sees(looked, way) : own === undefined;
    if (isHidden) return given;
    if (typeof name !== "string") throw withoutName(params["arguments"], name);
    exchange.called = { name, arguments: named["arguments"], through: given.name };
    if (own === undefined || target?.isWay) {
      throw unknownNameWithAdvice("tool", name, this.#candidates(looked));
    }
    const { arguments: _, ...rest } = params;
    const inner = named["arguments"] === undefined ? {} : { arguments: named["arguments"] };
    const thing: NamedThing = {
      server,
      kind: "tool",
      name: own,
      given: name,
      params: { ...rest, name: own, ...inner },
      refusal,
    };
    return selection.set?.prepare(thing, exchange.method) ?? thing;
  }

  /** A tool that the caller may not use is not described to it. */
  #described(looked: LookedUp): NamedThing {
    const { given, selection, tools, exchange } = looked;
    const { params } = given;
    const args = isRecord(params["arguments"]) ? params["arguments"] : {};
    const { name } = args;
    if (typeof name !== "string") return { ...given, shown: {} };
    const own = this.#resolveName(looked, name);
    const target = own === undefined ? undefined : tools.get(own);
    if (own === undefined || !target || target.isWay || !this.#sees(looked, target)) {
      throw unknownNameWithAdvice("tool", name, this.#candidates(looked));
    }
    const shown = { [own]: shownAs(target, selection, exchange) };
    return { ...given, params: { ...params, arguments: { ...args, name: own } }, shown };
  }

  #found(looked: LookedUp): NamedThing {
    const { given, exchange, selection } = looked;
    const isPlain = exchange.endpoint.kind === "one" && selection.access.isOpen("tool", given.server);
    return isPlain ? given : { ...given, shown: this.#shown(looked) };
  }

  #shown(looked: LookedUp): ShownTools {
    const { selection, exchange, tools } = looked;
    const seen = [...tools].filter(([, target]) => !target.isWay && this.#sees(looked, target));
    return Object.fromEntries(seen.map(([own, target]) => [own, shownAs(target, selection, exchange)]));
  }

  #candidates(looked: LookedUp): string[] {
    return Object.values(this.#shown(looked)).map(({ name }) => name);
  }

  #sees({ selection: { access }, exchange: { principal } }: LookedUp, target: AccessTarget): boolean {
    if (access.isOpen("tool", target.server)) return true;
    return !access.isHeld("tools", target) && access.allows(principal, target);
  }

  /** The own name of a tool, by its name at the caller's endpoint. */
  #resolveName({ given, exchange, selection }: LookedUp, name: string): string | undefined {
    if (exchange.endpoint.kind === "one") return name;
    const found = selection.resolve("tool", name);
    return found?.server === given.server ? found.own : undefined;
  }
}

interface LookedUp {
  given: NamedThing;
  exchange: GatewayExchange;
  selection: Selection;
  /** Of the API, by their own names. */
  tools: ReadonlyMap<string, AccessTarget>;
}

function shownAs(target: AccessTarget, selection: Selection, { endpoint }: GatewayExchange): ShownTool {
  const { server, name: own } = target;
  const { description, fixed = {} } = selection.set?.findItem(server, own) ?? {};
  const name = selection.nameOf(endpoint, server, own);
  const way = otherTarget(target);
  return {
    name,
    call: way ? selection.nameOf(endpoint, server, way.name) : name,
    description,
    without: Object.keys(fixed),
  };
}

function withoutName(args: unknown, name: unknown): NexusError {
  const message =
    args !== undefined && !isRecord(args)
      ? `"arguments" must be an object`
      : `${CALL_TOOL} needs the name of a tool as text${name === undefined ? "" : `, not ${JSON.stringify(name)?.slice(0, 50)}`}`;
  return new NexusError("ARGUMENTS_INVALID", message, {
    hint: `For example {"name": "find_orders", "arguments": {}}, with a name that search_tools gives.`,
    rpc: { code: INVALID_PARAMS, message },
    mayHaveReached: false,
  });
}
