import { isRequest, type Message } from "../../protocol/json-rpc.ts";
import { SMALL_BYTES, type ByteClaim } from "../core/byte-budget.ts";

/** So many of one session are not counted. */
const FEW_CALLS = 16;

interface CountedCalls {
  /** How many of the session are running already. */
  running: number;
  hold: () => ByteClaim;
  onDone: (() => void) | undefined;
}

/**
 * Counts the calls of a session that has many, each with the longest body that is not counted by itself: they go on without
 * a connection, so nothing else bounds their number. Undefined where there is no room for them.
 */
export function countCalls(
  messages: readonly Message[],
  { running, hold, onDone }: CountedCalls,
): Pick<CountedCalls, "onDone"> | undefined {
  const calls = running < FEW_CALLS ? 0 : messages.filter(isRequest).length;
  if (calls === 0) return { onDone };
  const claim = hold();
  if (!claim.resize(calls * SMALL_BYTES)) return undefined;
  return {
    onDone: () => {
      claim.release();
      onDone?.();
    },
  };
}
