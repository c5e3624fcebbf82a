import { INTERNAL_ERROR, isResponse, type Message } from "../../protocol/json-rpc.ts";

/**
 * A message as JSON; undefined where it cannot be written. A server can send what is nested too deeply, or is too long, to
 * be written again: that must end its own call and nothing else, so an answer becomes an error.
 */
export function jsonText(message: Message): string | undefined {
  try {
    const text = JSON.stringify(message);
    if (text.length <= MAX_LENGTH) return text;
  } catch {
    // Told below, as what is too long.
  }
  return isResponse(message) ? JSON.stringify({ jsonrpc: "2.0", id: message.id, error: UNWRITABLE }) : undefined;
}

/** Far below the longest text there can be, so that what is put around it fits. */
const MAX_LENGTH = 2 ** 27;
const UNWRITABLE = { code: INTERNAL_ERROR, message: "The answer is nested too deeply or too large to forward" };
