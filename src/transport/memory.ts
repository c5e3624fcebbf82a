import { isRequest, type Message } from "../protocol/json-rpc.ts";
import { NOTHING_TO_ABANDON, type CloseReason, type Connection, type Receiver, type Transport } from "./transport.ts";

/** The server's end of a memory transport. */
export interface MemoryPeer {
  /** Called for each message the client sends. */
  onMessage: (message: Message) => void;
  send(message: Message): void;
  close(): void;
  readonly closed: Promise<void>;
}

/**
 * Connects to a server in this process by function calls. Messages arrive in order, each in its own turn of the event
 * loop.
 */
export class MemoryTransport implements Transport {
  readonly kind = "memory";
  readonly target = {};
  /** Every server in memory is unique. */
  readonly identity = { server: crypto.randomUUID(), principal: "" };
  readonly #accept: (peer: MemoryPeer) => void;

  /** `accept` receives the server's end of every new connection. */
  constructor(accept: (peer: MemoryPeer) => void) {
    this.#accept = accept;
  }

  async connect(receiver: Receiver): Promise<Connection> {
    const [connection, peer] = memoryPair(receiver);
    this.#accept(peer);
    return connection;
  }
}

function memoryPair(receiver: Receiver): [Connection, MemoryPeer] {
  let open = true;
  let settle: (reason: CloseReason) => void = () => {};
  const closed = new Promise<CloseReason>((resolve) => (settle = resolve));
  const end = (reason: CloseReason) => {
    open = false;
    settle(reason);
  };

  const peer: MemoryPeer = {
    onMessage: () => {},
    send: (message) => queueMicrotask(() => open && receiver.message(message)),
    close: () => end({ kind: "stream-ended" }),
    closed: closed.then(() => {}),
  };
  const connection: Connection = {
    closed,
    send(message, delivery) {
      queueMicrotask(() => open && peer.onMessage(message));
      if (!isRequest(message)) delivery?.onEnd?.({ kind: "ended" });
      return NOTHING_TO_ABANDON;
    },
    close: async () => end({ kind: "closed" }),
    [Symbol.asyncDispose]: async () => end({ kind: "closed" }),
  };
  return [connection, peer];
}
