import { NexusError } from "../errors/nexus-error.ts";
import { wayTarget, type AccessTarget } from "../host/directory/access-target.ts";
import { unknownNameWithAdvice } from "../host/directory/unknown-name.ts";
import { isRecord } from "../json/is-record.ts";
import { INVALID_PARAMS } from "../protocol/json-rpc.ts";
import { CALL_TOOL, DESCRIBE_TOOL, SEARCHING_TOOLS } from "../protocol/meta.ts";
import type { ShownTool, ShownTools } from "../protocol/shown-tools.ts";
import type { Catalogs } from "./lists/catalogs.ts";
import type { ListedThings } from "./lists/listed-things.ts";
import type { NamedThing } from "./names/target.ts";
import type { GatewayExchange } from "./names/view.ts";
import type { Selection } from "./selection.ts";

/**
 * Tools of an API that find, describe or call others of it. A call that names another tool is the call of that tool: what
 * decides about it, changes it, counts it and records it sees nothing else.
 */
export class SearchingTools {
  readonly #catalogs: Catalogs;
  readonly #listed: ListedThings;

  constructor(catalogs: Catalogs, listed: ListedThings) {
    this.#catalogs = catalogs;
    this.#listed = listed;
  }

  /** What only an API in this process says of its tools is believed. Asked for every call. */
  concerns({ kind, server, name }: NamedThing): boolean {
    return kind === "tool" && SEARCHING_TOOLS.includes(name) && this.#catalogs.isApi(server);
  }

  /** What the request is for. `given` is one of these tools, with the arguments that a set fixes. */
  async resolve(given: NamedThing, exchange: GatewayExchange, selection: Selection): Promise<NamedThing> {
    const tools = await this.#listed.commonTools(given.server);
    const way = tools.get(given.name);
    // An API may have a tool of its own with such a name, or had others in an earlier version.
    if (way ? !way.isWay : !selection.hasEarlierTools(given.server)) return given;
    const asked = { given, exchange, selection, tools };
    if (given.name === CALL_TOOL) return this.#called(asked, way);
    if (!way || !this.#sees(asked, way)) return given;
    return given.name === DESCRIBE_TOOL ? this.#described(asked) : this.#found(asked);
  }

  #called(asked: Asked, way: AccessTarget | undefined): NamedThing {
    const { given, exchange, selection, tools } = asked;
    const { server, params, refusal } = given;
    const named = isRecord(params["arguments"]) ? params["arguments"] : {};
    const { name } = named;
    const own = typeof name === "string" ? this.#resolveName(asked, name) : undefined;
    const target = own === undefined ? undefined : tools.get(own);
    // Whoever has nothing to call with it does not know of it.
    const isHidden = way ? target?.through === undefined && !this.#sees(asked, way) : own === undefined;
    if (isHidden) return given;
    if (typeof name !== "string") throw withoutName(params["arguments"], name);
    exchange.called = { name, arguments: named["arguments"], through: given.name };
    if (own === undefined || target?.isWay) {
      throw unknownNameWithAdvice("tool", name, this.#candidates(asked));
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
  #described(asked: Asked): NamedThing {
    const { given, selection, tools, exchange } = asked;
    const { params } = given;
    const args = isRecord(params["arguments"]) ? params["arguments"] : {};
    const { name } = args;
    if (typeof name !== "string") return { ...given, shown: {} };
    const own = this.#resolveName(asked, name);
    const target = own === undefined ? undefined : tools.get(own);
    if (own === undefined || !target || target.isWay || !this.#sees(asked, target)) {
      throw unknownNameWithAdvice("tool", name, this.#candidates(asked));
    }
    const shown = { [own]: shownAs(target, selection, exchange) };
    return { ...given, params: { ...params, arguments: { ...args, name: own } }, shown };
  }

  #found(asked: Asked): NamedThing {
    const { given, exchange, selection } = asked;
    const isPlain = exchange.endpoint.kind === "one" && selection.access.isOpen("tool", given.server);
    return isPlain ? given : { ...given, shown: this.#shown(asked) };
  }

  #shown(asked: Asked): ShownTools {
    const { selection, exchange, tools } = asked;
    const seen = [...tools].filter(([, target]) => !target.isWay && this.#sees(asked, target));
    return Object.fromEntries(seen.map(([own, target]) => [own, shownAs(target, selection, exchange)]));
  }

  #candidates(asked: Asked): string[] {
    return Object.values(this.#shown(asked)).map(({ name }) => name);
  }

  #sees({ selection: { access }, exchange: { principal } }: Asked, target: AccessTarget): boolean {
    if (access.isOpen("tool", target.server)) return true;
    return !access.isHeld("tools", target) && access.allows(principal, target);
  }

  /** The own name of a tool, by its name at the caller's endpoint. */
  #resolveName({ given, exchange, selection }: Asked, name: string): string | undefined {
    if (exchange.endpoint.kind === "one") return name;
    const found = selection.namesFor(exchange).resolve("tool", name);
    return found?.server === given.server ? found.own : undefined;
  }
}

interface Asked {
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
  const way = wayTarget(target);
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
