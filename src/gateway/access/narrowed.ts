import type { AccessTarget } from "../../host/directory/access-target.ts";
import { stricter, type Decision } from "../../host/directory/policy.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { PrincipalAccess } from "./principal-access.ts";
import type { ThingKind } from "../names/target.ts";

const THINGS: Record<ListKind, { kind: ThingKind; member: string }> = {
  tools: { kind: "tool", member: "name" },
  prompts: { kind: "prompt", member: "name" },
  resources: { kind: "resource", member: "uri" },
  resourceTemplates: { kind: "resource", member: "uriTemplate" },
};

export interface Narrowing {
  access: PrincipalAccess;
  principal: Principal;
  server: string;
  /** The host's version of the same list, if the server may list it differently to this caller. */
  common?: readonly Params[] | undefined;
}

/** The kind of thing that a list contains. */
export function thingOf(kind: ListKind): ThingKind {
  return THINGS[kind].kind;
}

/** The items of a server that a principal may see. `outward` are the same items in the caller's names. */
export function narrowed(
  kind: ListKind,
  { items, outward }: { items: readonly Params[]; outward: readonly Params[] },
  { access, principal, server, common = [] }: Narrowing,
): readonly Params[] {
  if (access.isOpen(thingOf(kind), server)) return outward;
  const others = new Map(common.map((item) => [nameOf(kind, item), item]));
  return outward.filter((_, index) => {
    const item = items[index] ?? {};
    const versions = [item, others.get(nameOf(kind, item)) ?? item];
    return (
      decideListed(
        access,
        principal,
        versions.map((version) => listedTarget(kind, server, version)),
      ).kind !== "denied"
    );
  });
}

/**
 * If a server lists a thing in several ways, the strictest decision counts. A thing that it does not list is denied.
 */
export function decideListed(
  access: PrincipalAccess,
  principal: Principal,
  versions: readonly AccessTarget[],
): Decision {
  const decisions = versions.map((version) => access.decide(principal, version));
  return decisions.length === 0
    ? { kind: "denied", reason: "the server does not list it" }
    : decisions.reduce(stricter);
}

export function listedTarget(kind: ListKind, server: string, item: Params): AccessTarget {
  const annotations = kind === "tools" && isRecord(item["annotations"]) ? item["annotations"] : undefined;
  return { kind: thingOf(kind), server, name: nameOf(kind, item), annotations };
}

export function nameOf(kind: ListKind, item: Params): string {
  return String(item[THINGS[kind].member]);
}
