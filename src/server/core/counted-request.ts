import { isRequest, type Message, type Request } from "../../protocol/json-rpc.ts";

/** Clients need them to come in, to find out what is served, and to see whether it is alive. */
const UNCOUNTED: ReadonlySet<string> = new Set(["initialize", "server/discover", "ping"]);

/** Whether a message counts against the limits of its sender: every request but these. */
export function isCounted(message: Message): message is Request {
  return isRequest(message) && !UNCOUNTED.has(message.method);
}
