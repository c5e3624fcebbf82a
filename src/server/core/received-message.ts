import { exceededLimit } from "../../json/nesting.ts";
import type { JsonBodyLimits } from "./limits.ts";
import { isRecord } from "../../json/is-record.ts";
import { asMessage, isRequest, isRequestId, isResponse, type Message, type Request } from "../../protocol/json-rpc.ts";

/**
 * What a client sent, as a message; undefined where it is none. What asks and answers at once is none either: each part of
 * the server could take it for something else, and nobody would answer it.
 */
export function receivedMessage(value: unknown): Message | undefined {
  const message = asMessage(value);
  return message && "method" in message && isResponse(message) ? undefined : message;
}

/** The messages of a batch, all of them, or why it is refused. */
export function receivedBatch(items: readonly unknown[], maxMessages: number): Message[] | { problem: string } {
  if (items.length === 0) return { problem: "The batch is empty" };
  if (items.length > maxMessages) {
    return { problem: `A batch can have ${maxMessages} messages; this one has ${items.length}` };
  }
  const messages: Message[] = [];
  for (const item of items) {
    const message = receivedMessage(item);
    if (!message) return { problem: messageProblem(item) };
    messages.push(message);
  }
  return messages;
}

/** Why something that a client sent is not a message. */
export function messageProblem(value: unknown): string {
  const hasBadId = isRecord(value) && "id" in value && !isRequestId(value["id"]);
  return hasBadId
    ? `"id" must be a string or an integer from -(2^53-1) to 2^53-1`
    : "This is not a JSON-RPC 2.0 message";
}

/** Clients need them to come in, to find out what is served, and to see whether it is alive. */
const UNCOUNTED: ReadonlySet<string> = new Set(["initialize", "server/discover", "ping"]);

/** Whether a message counts against the limits of its sender: every request but these. */
export function isCounted(message: Message): message is Request {
  return isRequest(message) && !UNCOUNTED.has(message.method);
}

/**
 * Why a body in JSON is refused before it is parsed; undefined if it is within the limits. `what` is its name in the
 * message.
 */
export function jsonRefusal(json: string, what: string, limits: JsonBodyLimits): JsonRefusal | undefined {
  const { jsonDepth, jsonValues, jsonMembers } = limits;
  const exceeded = exceededLimit(json, { depth: jsonDepth, values: jsonValues, members: jsonMembers });
  switch (exceeded) {
    case undefined:
      return undefined;
    case "depth":
      return { message: `${what} is nested deeper than ${jsonDepth} levels` };
    case "values":
      return tooMany(`${what} has more than ${jsonValues} values`, "jsonValues", jsonValues);
    case "members":
      return tooMany(`${what} has an object with more than ${jsonMembers} members`, "jsonMembers", jsonMembers);
  }
}

function tooMany(message: string, name: keyof JsonBodyLimits, max: number): JsonRefusal {
  return {
    message: `${message}. Send it in smaller parts, or raise limits.${name} of the server`,
    data: { code: "MESSAGE_TOO_LARGE", limit: { name, max } },
  };
}

export interface JsonRefusal {
  message: string;
  /** Of the JSON-RPC error. */
  data?: { code: "MESSAGE_TOO_LARGE"; limit: { name: string; max: number } };
}
