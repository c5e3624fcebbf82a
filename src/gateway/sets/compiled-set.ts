import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";
import { type Decision, NO_ENTRY_RULES, Policy } from "../../host/directory/policy.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { withoutArguments, type WithoutArguments } from "../../schema/without-arguments.ts";
import type { NamedThing, Own, ThingKind } from "../names/names.ts";
import { itemKey, type SetDefinition, type SetItem } from "./set-definition.ts";

/** A tool or prompt that a set shows in another way. */
interface ShownItem extends Own {
  name: string | undefined;
  description: string | undefined;
  /** The names and values of its fixed arguments; undefined if there are none. */
  fixed: Readonly<Record<string, unknown>> | undefined;
  /** The schemas of a tool without its fixed arguments, by the schema that the server lists. */
  narrowed: WeakMap<object, WithoutArguments>;
}

type NamedKind = "tool" | "prompt";

/** The definition of a set in the form that requests need. It never changes: another definition is another object. */
export class CompiledSet {
  readonly name: string;
  readonly description: string | undefined;
  /** Whether changed tools are refused until the changes are accepted. */
  readonly isPinned: boolean;
  readonly #policy: Policy;
  readonly #logger: Logger;
  /** By `server.name`. */
  readonly #items: Readonly<Record<NamedKind, ReadonlyMap<string, ShownItem>>>;
  /** By the name in the set. */
  readonly #renamed: Readonly<Record<NamedKind, ReadonlyMap<string, ShownItem>>>;
  /** Items as callers see them, by the item in full names. */
  readonly #shown = new WeakMap<Params, Params>();
  /** What was last logged about each tool. */
  readonly #warnings = new Map<string, string>();

  constructor(
    name: string,
    { description, allow, deny, readOnly, pin, tools, prompts }: SetDefinition,
    logger: Logger,
  ) {
    this.name = name;
    this.description = description;
    this.isPinned = pin === true;
    this.#policy = new Policy({ allow, deny, readOnly }, NO_ENTRY_RULES);
    this.#logger = logger;
    this.#items = { tool: shownItems(tools), prompt: shownItems(prompts) };
    this.#renamed = { tool: byName(this.#items.tool), prompt: byName(this.#items.prompt) };
  }

  /** Whether the set contains it. A tool whose fixed arguments would be visible is not contained. */
  decide(target: AccessTarget): Decision {
    const decision = this.#policy.decide(undefined, target);
    const { kind, server, name, inputSchema } = target;
    if (decision.kind === "denied" || kind !== "tool") return decision;
    const item = this.#find("tool", server, name);
    if (target.isCalled && (item?.fixed || item?.name !== undefined)) {
      return { kind: "denied", reason: "its server could call it with other arguments than the set gives" };
    }
    if (inputSchema === undefined) return decision;
    const narrowed = item?.fixed && this.#narrow(inputSchema, item, item.fixed);
    return narrowed?.kind === "problem" ? { kind: "denied", reason: "its fixed arguments cannot be hidden" } : decision;
  }

  /** The pattern or flag of the set that decides, for people; undefined if none applies. */
  findRule(target: AccessTarget): string | undefined {
    return this.#policy.findRule(target);
  }

  /** The thing with this name in the set; `full` resolves the full names of things that have no other name here. */
  resolve(kind: ThingKind, given: string, full: (given: string) => Own | undefined): Own | undefined {
    if (kind === "resource") return full(given);
    const renamed = this.#renamed[kind].get(given);
    if (renamed) return renamed;
    const own = full(given);
    // Something with a name of its own has no other one.
    return own && this.#find(kind, own.server, own.own)?.name === undefined ? own : undefined;
  }

  /** How the set shows a tool, if in another way. */
  findItem(server: string, tool: string): Pick<ShownItem, "name" | "description" | "fixed"> | undefined {
    return this.#find("tool", server, tool);
  }

  /** A listed item as callers of the set see it. `outward` is the item in full names. */
  show(kind: ListKind, server: string, { item, outward }: { item: Params; outward: Params }): Params {
    if (kind !== "tools" && kind !== "prompts") return outward;
    const shown = this.#find(kind === "tools" ? "tool" : "prompt", server, String(item["name"]));
    if (!shown) return outward;
    const known = this.#shown.get(outward);
    if (known) return known;
    const made = this.#make(kind, shown, outward);
    this.#shown.set(outward, made);
    return made;
  }

  /** The same request with the fixed arguments. If the caller sends one of them, the request must be refused. */
  prepare(thing: NamedThing, method: string): NamedThing {
    const { kind, server, name, params } = thing;
    const fixed = kind === "resource" ? undefined : this.#find(kind, server, name)?.fixed;
    if (!fixed) return thing;
    if (method === "completion/complete") return prepareCompletion(thing, fixed);
    const { arguments: given = {} } = params;
    if (!isRecord(given)) return { ...thing, refusal: invalid(`"arguments" must be an object`) };
    return {
      ...thing,
      params: { ...params, arguments: { ...given, ...fixed } },
      refusal: refusalOf(given, fixed, thing),
    };
  }

  /** Whether callers of a tool do not send this argument. */
  isFixed(server: string, tool: string, argument: string | undefined): boolean {
    const fixed = this.#find("tool", server, tool)?.fixed;
    return fixed !== undefined && argument !== undefined && Object.hasOwn(fixed, argument);
  }

  #find(kind: NamedKind, server: string, own: string): ShownItem | undefined {
    const items = this.#items[kind];
    return items.size === 0 ? undefined : items.get(`${server}.${own}`);
  }

  #make(kind: "tools" | "prompts", item: ShownItem, outward: Params): Params {
    const { name, description, fixed } = item;
    const made: Params = { ...outward };
    if (name !== undefined) made["name"] = name;
    if (description !== undefined) made["description"] = description;
    if (!fixed) return made;
    if (kind === "tools") {
      const narrowed = this.#narrow(outward["inputSchema"], item, fixed);
      // Not listed: `decide` denies it.
      made["inputSchema"] = narrowed.kind === "schema" ? narrowed.schema : { type: "object" };
    } else if (Array.isArray(outward["arguments"])) {
      made["arguments"] = outward["arguments"].filter(
        (each) => !(isRecord(each) && Object.hasOwn(fixed, String(each["name"]))),
      );
    }
    return made;
  }

  #narrow(schema: unknown, item: ShownItem, fixed: object): WithoutArguments {
    if (!isRecord(schema)) return { kind: "schema", schema };
    const known = item.narrowed.get(schema);
    if (known) return known;
    const names = Object.keys(fixed);
    const narrowed = withoutArguments(schema, names);
    const problem =
      narrowed.kind === "problem" ? this.#unhidden(names, narrowed.reason) : this.#unlisted(names, schema);
    if (problem !== undefined) this.#warn(item, problem);
    item.narrowed.set(schema, narrowed);
    return narrowed;
  }

  #unhidden(names: readonly string[], reason: string): string {
    return `is left out of the set "${this.name}": its fixed arguments (${quoted(names)}) cannot be hidden, because ${reason}`;
  }

  /** A fixed argument with a mistyped name leaves the real one to callers. */
  #unlisted(names: readonly string[], { properties }: Record<string, unknown>): string | undefined {
    const missing = names.filter((name) => !isRecord(properties) || !Object.hasOwn(properties, name));
    if (missing.length === 0) return undefined;
    return `does not list arguments that the set "${this.name}" fixes: ${quoted(missing)}. Check their names: callers choose the arguments that are not fixed`;
  }

  /** Not again for each list that is read. */
  #warn({ server, own }: ShownItem, problem: string): void {
    const tool = `tool "${own}" of "${server}"`;
    if (this.#warnings.get(tool) === problem) return;
    this.#warnings.set(tool, problem);
    this.#logger.warn(`${tool} ${problem}`);
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

function shownItems(written: Readonly<Record<string, SetItem>> = {}): ReadonlyMap<string, ShownItem> {
  const entries = Object.entries(written).map(([key, { name, description, arguments: fixed = {} }]) => {
    const { server, own } = itemKey(key) ?? { server: "", own: key };
    const given = Object.keys(fixed).length > 0 ? fixed : undefined;
    return [key, { server, own, name, description, fixed: given, narrowed: new WeakMap() }] as const;
  });
  return new Map(entries);
}

function byName(items: ReadonlyMap<string, ShownItem>): ReadonlyMap<string, ShownItem> {
  return new Map([...items.values()].flatMap((item) => (item.name === undefined ? [] : [[item.name, item]])));
}

/** Other arguments are completed with the fixed ones as their context. */
function prepareCompletion(thing: NamedThing, fixed: Readonly<Record<string, unknown>>): NamedThing {
  const { argument, context } = thing.params;
  const completed = isRecord(argument) ? { [String(argument["name"])]: "" } : {};
  const given = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  const full = { ...(isRecord(context) ? context : {}), arguments: { ...given, ...fixed } };
  const refusal = refusalOf({ ...given, ...completed }, fixed, thing);
  return { ...thing, params: { ...thing.params, context: full }, refusal };
}

function refusalOf(
  given: object,
  fixed: Readonly<Record<string, unknown>>,
  { kind, given: name }: NamedThing,
): NexusError | undefined {
  const sent = Object.keys(fixed).find((argument) => Object.hasOwn(given, argument));
  return sent === undefined ? undefined : invalid(`Unknown argument ${JSON.stringify(sent)} of ${kind} "${name}"`);
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, {
    rpc: { code: INVALID_PARAMS, message },
    mayHaveReached: false,
  });
}
