import { asNotifications, listsIn, type Interests } from "../../protocol/interests.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Notification, type Params, type Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { META, MISSING_CLIENT_CAPABILITY, TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { Exchange } from "../core/core.ts";
import { principalKey } from "../core/principal.ts";
import type { ModernRequest } from "./modern-sender.ts";

/**
 * `subscriptions/listen`: acknowledges what was accepted, then tells exactly that, each message with the id of the
 * request, until the signal fires or the core ends it.
 */
export async function listenModern(exchange: Exchange, r: ModernRequest): Promise<Result> {
  const { params, correlationId, traceId, receipt, caller } = exchange;
  const { capabilities, version, client } = caller;
  const { core, principal, request, signal } = r;
  const stamp = { [META.subscriptionId]: request.id };
  const send = ({ method, params: said = {} }: Notification) => {
    const _meta = isRecord(said["_meta"]) ? { ...said["_meta"], ...stamp } : stamp;
    r.send({ jsonrpc: "2.0", method, params: { ...said, _meta } });
  };
  // Nothing may go before the acknowledgement.
  let early: Notification[] | undefined = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  await using listening = await core.listen({
    principal,
    asked: { params, caller: { era: "modern", version, client }, correlationId, traceId, receipt },
    owner: principalKey(principal),
    capabilities,
    interests: interestsIn(params, capabilities),
    onChange: (notification) => (early ? early.push(notification) : send(notification)),
    onEnd: () => end(),
  });
  if (!signal.aborted) {
    const notifications = asNotifications(listening.accepted);
    send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { notifications } });
    for (const notification of early) send(notification);
    early = undefined;
    signal.addEventListener("abort", () => end(), { once: true });
    await ended;
  }
  return { resultType: "complete", _meta: stamp };
}

/** What a caller wants to hear of; throws where it is none of that. */
function interestsIn({ notifications: wanted }: Params, capabilities: ClientCapabilities): Interests {
  if (!isRecord(wanted)) throw invalid(`"notifications" must be an object`);
  const resources = strings(wanted, "resourceSubscriptions");
  const tasks = strings(wanted, "taskIds");
  if (tasks && !capabilities.extensions?.[TASKS_EXTENSION]) throw lacksTasks();
  return { lists: listsIn(wanted), ...(resources ? { resources } : {}), ...(tasks ? { tasks } : {}) };
}

function strings(wanted: Params, member: string): string[] | undefined {
  const given = wanted[member];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || !given.every((each) => typeof each === "string")) {
    throw invalid(`"${member}" must be an array of strings`);
  }
  return given;
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { rpc: { code: INVALID_PARAMS, message } });
}

function lacksTasks(): NexusError {
  const message = `Task notifications require the extension ${TASKS_EXTENSION}`;
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  return new NexusError("CAPABILITY_MISSING", message, { rpc: { code: MISSING_CLIENT_CAPABILITY, message, data } });
}
