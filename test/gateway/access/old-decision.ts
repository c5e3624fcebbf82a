import { calledTarget, serverTarget, wayTarget, type AccessTarget } from "../../../src/host/directory/access-target.ts";
import { ruledServer } from "../../../src/host/directory/major-server.ts";
import { stricter, type Decision, type Policy } from "../../../src/host/directory/policy.ts";
import type { Decide } from "../../../src/gateway/index.ts";
import type { Principal } from "../../../src/server/core/principal.ts";

/**
 * The decision as it was made before requests were decided once: the server was asked for when its name was resolved and
 * again when it was used, and the host's policy was asked each time.
 */
export function oldDecision(
  policy: Policy,
  decide: Decide | undefined,
  principal: Principal,
  of: AccessTarget,
): Decision {
  const isSeen = (server: string) =>
    (decide === undefined && policy.isOpen("server", ruledServer(server))) ||
    decideOne(policy, decide, principal, serverTarget(server)).kind !== "denied";
  // As the name was resolved, and as it was used.
  if (!isSeen(of.server) || !isSeen(of.server)) return { kind: "denied", reason: "the server is hidden" };
  if (decide === undefined && policy.isOpen(of.kind, ruledServer(of.server))) return { kind: "allowed" };
  return decideOne(policy, decide, principal, of);
}

function decideOne(policy: Policy, decide: Decide | undefined, principal: Principal, asked: AccessTarget): Decision {
  const server = ruledServer(asked.server);
  const target = { ...asked, server, name: asked.kind === "server" ? server : asked.name };
  const byPolicy = policy.decide(principal.id, target);
  if (byPolicy.kind === "denied" || !decide) return byPolicy;
  const ask = (about: AccessTarget) => stricter(decide(principal, "list", about), decide(principal, "use", about));
  const ofServer = target.kind === "server" ? byPolicy : ask(serverTarget(server));
  if (ofServer.kind === "denied") return ofServer;
  const other = calledTarget(target) ?? wayTarget(target);
  return stricter(byPolicy, stricter(ofServer, other ? stricter(ask(target), ask(other)) : ask(target)));
}
