import { INTERNAL_ERROR, isResponse, type Message, type Response } from "../protocol/json-rpc.ts";

/**
 * A message as JSON; undefined where it cannot be written. A server can send what is nested too deeply to be written
 * again: that must end its own call and nothing else, so an answer becomes an error.
 */
export function jsonText(message: Message | readonly Response[]): string | undefined {
  try {
    return JSON.stringify(message);
  } catch {
    if (Array.isArray(message)) return `[${(message as readonly Response[]).map(jsonText).join(",")}]`;
    const one = message as Message;
    return isResponse(one) ? JSON.stringify({ jsonrpc: "2.0", id: one.id, error: UNWRITABLE }) : undefined;
  }
}

const UNWRITABLE = { code: INTERNAL_ERROR, message: "The server's answer is nested too deeply to be passed on" };
