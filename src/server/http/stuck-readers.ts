import type { ServerResponse } from "node:http";

/** What the system takes at once, as a rule; less is not worth watching. */
const LITTLE_BYTES = 64 * 1024;

/** How many signs of life a client may leave unread, together with what stood before them. */
export const STUCK_BEATS = 2;

/** Ends the connection of a client that takes nothing, for so long, of what waits for it. Slow ones may be slow. */
export function expectReading(res: ServerResponse, ms: number): void {
  const { socket } = res;
  // Setting it once more would begin anew.
  if (!socket || socket.timeout === ms || res.writableLength <= LITTLE_BYTES) return;
  socket.setTimeout(ms);
  if (!res.writableEnded) res.once("drain", () => socket.setTimeout(0));
}
