import { asMessage, isResponse, type Message } from "../protocol/json-rpc.ts";

/**
 * What a client sent, as a message; undefined where it is none. What asks and answers at once is none either: each part of
 * the gateway could take it for something else, and nobody would answer it.
 */
export function receivedMessage(value: unknown): Message | undefined {
  const message = asMessage(value);
  return message && "method" in message && isResponse(message) ? undefined : message;
}
