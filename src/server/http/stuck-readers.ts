import type { ServerResponse } from "node:http";
import { LITTLE_BYTES } from "../core/byte-budget.ts";

/** How many keep-alive comments a client may leave unread, together with what was written before them. */
export const STUCK_BEATS = 2;

/** Ends the connection of a client that reads nothing for this time although something waits. Slow readers are not ended. */
export function expectReading(res: ServerResponse, ms: number): void {
  const { socket } = res;
  // Setting it again would restart the time.
  if (!socket || socket.timeout === ms || res.writableLength <= LITTLE_BYTES) return;
  socket.setTimeout(ms);
  if (!res.writableEnded) res.once("drain", () => socket.setTimeout(0));
}
