import { callsOthers, type AccessTarget } from "../../host/directory/access-target.ts";
import { stricter, type Decision } from "../../host/directory/policy.ts";
import type { ListHashes } from "../../host/definitions/pins.ts";
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
  /** How the caller's endpoint shows an item, if not in full names. */
  show?: ShowItem | undefined;
}

/** An item as an endpoint shows it; `outward` is the item in full names. */
export type ShowItem = (kind: ListKind, server: string, item: { item: Params; outward: Params }) => Params;

/** The kind of thing that a list contains. */
export function thingOf(kind: ListKind): ThingKind {
  return THINGS[kind].kind;
}

/** The items of a server that a principal may see. `outward` are the same items in the caller's names. */
export function narrowed(
  kind: ListKind,
  { items, outward, hashes }: { items: readonly Params[]; outward: readonly Params[]; hashes: ListHashes },
  { access, principal, server, common = [], show }: Narrowing,
): readonly Params[] {
  if (access.isOpen(thingOf(kind), server)) return outward;
  const isPinned = access.pins(server);
  const others = new Map(common.map((item) => [nameOf(kind, item), item]));
  return outward.flatMap((each, index): readonly Params[] => {
    const item = items[index] ?? {};
    const name = nameOf(kind, item);
    if (isPinned && access.isHeld(kind, listedTarget(kind, server, item, hashes.get(name)))) return [];
    const other = others.get(name);
    const versions = other ? [item, other] : [item];
    const targets = versions.map((version) => listedTarget(kind, server, version));
    if (judgeListed(access, principal, targets).decision.kind === "denied") return [];
    return [show ? show(kind, server, { item, outward: each }) : each];
  });
}

/** The decision about a thing, and the listing that it is about. */
export interface Judged {
  decision: Decision;
  /** Undefined if the thing is not listed. */
  version: AccessTarget | undefined;
}

/**
 * If a server lists a thing in several ways, the strictest decision counts. A thing that it does not list is denied.
 */
export function judgeListed(access: PrincipalAccess, principal: Principal, versions: readonly AccessTarget[]): Judged {
  let judged: Judged | undefined;
  for (const version of versions) {
    const decision = access.decide(principal, version);
    if (!judged) judged = { decision, version };
    else if (stricter(judged.decision, decision).kind !== judged.decision.kind) judged = { decision, version };
  }
  return judged ?? UNLISTED;
}

const UNLISTED: Judged = {
  decision: { kind: "denied", reason: "the server does not list it" },
  version: undefined,
};

/** `definition` is the hash of the item as the server sent it. */
export function listedTarget(kind: ListKind, server: string, item: Params, definition?: string): AccessTarget {
  const name = nameOf(kind, item);
  if (kind !== "tools") return { kind: thingOf(kind), server, name, definition };
  const annotations = isRecord(item["annotations"]) ? item["annotations"] : undefined;
  return {
    kind: "tool",
    server,
    name,
    annotations,
    inputSchema: item["inputSchema"],
    definition,
    ...callsOthers(item),
  };
}

export function nameOf(kind: ListKind, item: Params): string {
  return String(item[THINGS[kind].member]);
}
