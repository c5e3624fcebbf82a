/** From the client to the server, or back. */
export type Direction = "up" | "down";

/** Which connection of a run, in the order in which the client opened them. */
type Target = { connection: number | "every" };

/** Strikes when so many bytes have gone in that direction. */
type AtByte = Target & { direction: Direction; atByte: number };

/** What happens at a place in the bytes of a connection. */
export type ByteFault =
  | (AtByte & { kind: "delay"; ms: number })
  | (AtByte & { kind: "stall"; ms: number | "for ever" })
  /** Both sides see a reset; what is still under way is lost. */
  | (AtByte & { kind: "cut" })
  /** This direction ends in good order, and everything after it is dropped. */
  | (AtByte & { kind: "half-close" })
  /** The next `length` bytes go in pieces of `size`. */
  | (AtByte & { kind: "split"; length: number; size: number })
  /** The `length` bytes before are sent once more. */
  | (AtByte & { kind: "duplicate-bytes"; length: number })
  /** The next `length` bytes change places with those after them. */
  | (AtByte & { kind: "reorder-bytes"; length: number });

/** What happens to whole server-sent events; the HTTP around them stays valid. */
export type EventFault = Target & { kind: "duplicate-event" | "reorder-events"; nth: number };

/** Plain data, so that it can be generated, shrunk and printed. */
export type Fault = ByteFault | EventFault;

export function isEventFault(fault: Fault): fault is EventFault {
  return fault.kind === "duplicate-event" || fault.kind === "reorder-events";
}
