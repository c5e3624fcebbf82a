import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params, type Result } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import type { CallContext } from "./call-context.ts";
import { type Change, LIST_CHANGED, RESOURCE_UPDATED } from "./changes.ts";
import type { McpServer } from "./mcp-server.ts";
import { RpcError } from "./rpc-error.ts";

/**
 * `subscriptions/listen` of 2026-07-28: acknowledges what it accepts, then sends exactly that, every message
 * stamped with the id of the request. Ends when the client leaves, or with a result when the server stops.
 */
export async function listen(server: McpServer, context: CallContext): Promise<Result> {
  const wanted = context.request.params?.["notifications"];
  if (!isRecord(wanted)) throw new RpcError(INVALID_PARAMS, `"notifications" must be an object.`);
  const extension = server.topics(wanted, context);
  const uris = resourceUris(wanted);
  const stamp = { [META.subscriptionId]: context.request.id };

  const send = (method: string, params: Params = {}) => {
    context.exchange.send({ jsonrpc: "2.0", method, params: { ...params, _meta: stamp } });
  };
  const forward = (change: Exclude<Change, { kind: "end" }>) => {
    if (change.kind === "resource") {
      if (uris.includes(change.uri)) send(RESOURCE_UPDATED, { uri: change.uri });
    } else if (change.kind === "topic") {
      if (extension.topics.includes(change.topic)) send(change.method, change.params);
    } else if (wanted[`${change.kind}ListChanged`] === true) {
      send(LIST_CHANGED[change.kind]);
    }
  };

  const notifications = {
    ...acceptedLists(wanted),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    ...extension.accepted,
  };
  send("notifications/subscriptions/acknowledged", { notifications });

  return new Promise((resolve) => {
    const stop = () => {
      stopListening();
      resolve({ _meta: stamp });
    };
    const stopListening = server.changes.listen((change) => {
      if (change.kind === "end") stop();
      else forward(change);
    });
    context.signal.addEventListener("abort", stop, { once: true });
  });
}

function acceptedLists(wanted: Params): Params {
  const names = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
  return Object.fromEntries(names.filter((name) => wanted[name] === true).map((name) => [name, true]));
}

function resourceUris(wanted: Params): string[] {
  const uris: unknown = wanted["resourceSubscriptions"] ?? [];
  if (!Array.isArray(uris)) throw new RpcError(INVALID_PARAMS, `"resourceSubscriptions" must be an array.`);
  return uris.filter((uri) => typeof uri === "string");
}
