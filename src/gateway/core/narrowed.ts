import type { ServerStatus } from "../../host/host.ts";
import { isRecord, type Params } from "../../protocol/json-rpc.ts";
import type { Principal } from "../principal.ts";
import type { Access } from "./access.ts";
import type { ListKind } from "./list-kind.ts";
import type { ThingKind } from "./target.ts";

const THINGS: Record<ListKind, { kind: ThingKind; member: string }> = {
  tools: { kind: "tool", member: "name" },
  prompts: { kind: "prompt", member: "name" },
  resources: { kind: "resource", member: "uri" },
  resourceTemplates: { kind: "resource", member: "uriTemplate" },
};

/** Those of a server's items that somebody may see. `shown` are the same items in the caller's names. */
export function narrowed(
  kind: ListKind,
  { items, outward: shown }: { items: readonly Params[]; outward: readonly Params[] },
  { access, principal, status }: { access: Access; principal: Principal; status: ServerStatus },
): readonly Params[] {
  const thing = THINGS[kind];
  if (access.isOpen(thing.kind, status)) return shown;
  return shown.filter((_, index) => {
    const item = items[index] ?? {};
    const annotations = isRecord(item["annotations"]) ? item["annotations"] : undefined;
    const target = { server: status.id, kind: thing.kind, name: String(item[thing.member]), annotations };
    return access.decide(principal, "list", target, status).kind !== "denied";
  });
}
