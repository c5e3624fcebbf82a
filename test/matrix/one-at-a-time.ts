interface Receiver {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/**
 * Gives an SDK's client each message in a turn of its own. It drops a progress report that it reads together with the
 * result, and how much it reads at a time depends on how busy the machine is.
 */
export function receiveOneAtATime(transport: Receiver): void {
  const receive = transport.onmessage;
  const waiting: Parameters<NonNullable<Receiver["onmessage"]>>[] = [];
  const next = (): void => {
    const [message] = waiting;
    if (!message) return;
    receive?.(...message);
    waiting.shift();
    if (waiting.length > 0) setImmediate(next);
  };
  transport.onmessage = (...message) => {
    if (waiting.push(message) === 1) setImmediate(next);
  };
}
