import type { ServerResponse } from "node:http";
import { LITTLE_BYTES } from "../core/unread-bytes.ts";

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
