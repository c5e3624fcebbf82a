import { type AccessTarget, apiTarget, callsOthers } from "../../host/directory/access-target.ts";
import type { ListHashes } from "../../host/definitions/pins.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { CALL_TOOL } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import type { PrincipalAccess } from "./principal-access.ts";
import type { ThingKind } from "../names/names.ts";

const THINGS: Record<ListKind, { kind: ThingKind; member: string }> = {
  tools: { kind: "tool", member: "name" },
  prompts: { kind: "prompt", member: "name" },
  resources: { kind: "resource", member: "uri" },
  resourceTemplates: { kind: "resource", member: "uriTemplate" },
};

/** Its hints are those of the gravest tool that the caller can call with it. */
function withHints(callTool: Params, others: readonly AccessTarget[]): Params {
  const isRead = others.every(({ annotations }) => annotations?.readOnlyHint === true);
  const destructiveHint = others.some(({ annotations }) => annotations?.destructiveHint === true);
  const before = isRecord(callTool["annotations"]) ? callTool["annotations"] : {};
  const isSame = before["readOnlyHint"] === isRead && (isRead || before["destructiveHint"] === destructiveHint);
  if (isSame) return callTool;
  const { destructiveHint: _destructive, idempotentHint: _idempotent, ...rest } = before;
  const hints = isRead ? {} : { destructiveHint, idempotentHint: false };
  return { ...callTool, annotations: { ...rest, readOnlyHint: isRead, ...hints } };
}

interface Narrowing {
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
  {
    items,
    outward,
    hashes,
    searched,
  }: {
    items: readonly Params[];
    outward: readonly Params[];
    hashes: ListHashes;
    searched?: readonly AccessTarget[] | undefined;
  },
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
    const targets = versions.map((version) => listedTarget(kind, server, version, undefined, searched));
    if (access.judgeListed(principal, targets).decision.kind === "denied") return [];
    const shown = show ? show(kind, server, { item, outward: each }) : each;
    const isCalling = searched && searched.length > 0 && name === CALL_TOOL && isSearching(item);
    return [isCalling ? withHints(shown, access.seen(principal, searched)) : shown];
  });
}

/**
 * `definition` is the hash of the item as the server sent it; `searched` are, for an API, its tools that are found by
 * searching.
 */
export function listedTarget(
  kind: ListKind,
  server: string,
  item: Params,
  definition?: string,
  searched?: readonly AccessTarget[],
): AccessTarget {
  const name = nameOf(kind, item);
  if (kind !== "tools") return { kind: thingOf(kind), server, name, definition };
  const annotations = isRecord(item["annotations"]) ? item["annotations"] : undefined;
  const target: AccessTarget = {
    kind: "tool",
    server,
    name,
    annotations,
    inputSchema: item["inputSchema"],
    definition,
    ...callsOthers(item),
  };
  return searched ? apiTarget(target, item, searched) : target;
}

export function nameOf(kind: ListKind, item: Params): string {
  return String(item[THINGS[kind].member]);
}
