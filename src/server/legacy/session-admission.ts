import type { IncomingHttpHeaders } from "node:http";
import type { LegacySession } from "./legacy-session.ts";
import type { ErrorObject, Message, Response } from "../../protocol/json-rpc.ts";
import type { Admission, Core } from "../core/core.ts";
import { isCounted } from "../core/received-message.ts";
import { retryLater } from "../core/busy-error.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import type { Principal } from "../core/principal.ts";

/** The answers to those messages of a session's client that exceed a limit; undefined where there are none. */
type Refused = ReadonlyMap<Message, Response>;

/** Counts what the client of a session sent in one POST. */
export function admissionOf(
  { core, principal, conversation }: { core: Core; principal: Principal; conversation: LegacySession },
  messages: readonly Message[],
  headers: IncomingHttpHeaders,
): Refused | undefined | Promise<Refused | undefined> {
  if (!core.admit) return undefined;
  const counted = messages.filter(isCounted);
  if (counted.length === 0) return undefined;
  const refusedBy = (admission: Admission | undefined) => {
    if (!admission) return undefined;
    const error = rpcErrorOf(admission.error);
    return new Map(
      counted.slice(admission.admitted).map((request) => [request, { jsonrpc: "2.0" as const, id: request.id, error }]),
    );
  };
  const { version, agreed } = conversation;
  const admission = core.admit(principal, counted, {
    era: "legacy",
    version: version ?? "",
    client: agreed?.client,
    headers,
  });
  return admission instanceof Promise ? admission.then(refusedBy) : refusedBy(admission);
}

/** The HTTP answer to a POST of which nothing goes on. */
export function refusalOf(
  refused: Refused,
): { status: number; headers: Record<string, string>; body: Response[] } | undefined {
  const body = [...refused.values()];
  const error = body.flatMap((answer): ErrorObject[] => ("error" in answer ? [answer.error] : []))[0];
  const later = error && retryLater(error);
  return later && { status: later.status, headers: { "retry-after": String(later.seconds) }, body };
}
