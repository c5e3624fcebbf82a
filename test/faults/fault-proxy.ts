import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { BytePump } from "./byte-pump.ts";
import { EventShuffler } from "./event-shuffler.ts";
import { isEventFault, type ByteFault, type Direction, type Fault } from "./fault.ts";

/** Stands between a client and a server on loopback, and does to their bytes what it was told. */
export class FaultProxy implements AsyncDisposable {
  /** What has happened so far, oldest first. */
  readonly struck: Fault[] = [];
  readonly #faults: readonly Fault[];
  readonly #upstreamPort: number;
  readonly #server: Server;
  readonly #healed = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  #accepted = 0;
  #onClientGone: () => void = () => {};

  static async start(upstreamPort: number, faults: readonly Fault[]): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstreamPort, faults);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(upstreamPort: number, faults: readonly Fault[]) {
    this.#upstreamPort = upstreamPort;
    this.#faults = faults;
    // Half-open, since a direction that ends must not end the other by itself.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that the client has not let go. */
  get openConnections(): number {
    return this.#clients.size;
  }

  /** Nothing strikes any more, and what was held back goes on. */
  heal(): void {
    this.#healed.abort();
  }

  /** Resolves when the client has let go of every connection. */
  clientsGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#onClientGone = () => {
        if (this.#clients.size === 0) resolve();
      };
      this.#onClientGone();
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#healed.abort();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#upstreamPort, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const index = this.#accepted++;
    const faults = this.#faults.filter(({ connection }) => connection === "every" || connection === index);
    const cut = () => {
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    const up = this.#pump("up", faults, { sink: server, cut });
    const down = this.#pump("down", faults, { sink: client, cut });
    const shuffler = new EventShuffler({
      faults: faults.filter(isEventFault),
      write: (bytes) => down.push(bytes),
      onStrike: (fault) => this.struck.push(fault),
    });

    this.#hold(client);
    this.#hold(server);
    this.#clients.add(client);
    const gone = () => {
      this.#clients.delete(client);
      this.#onClientGone();
    };
    client.on("data", (bytes) => up.push(bytes));
    client.on("end", () => {
      gone();
      up.end();
    });
    client.on("close", () => {
      gone();
      up.stop();
      down.stop();
      shuffler.stop();
      server.destroy();
    });
    server.on("data", (bytes) => shuffler.push(bytes));
    server.on("end", () => {
      shuffler.flush();
      down.end();
    });
    // A reset is passed on as one; an end in good order has come through the pump.
    server.on("error", () => client.resetAndDestroy());
    up.start();
    down.start();
  }

  #pump(direction: Direction, faults: readonly Fault[], ends: { sink: Socket; cut: () => void }): BytePump {
    const { sink, cut } = ends;
    return new BytePump({
      faults: faults.filter((fault): fault is ByteFault => !isEventFault(fault) && fault.direction === direction),
      write: (bytes) => sink.writable && sink.write(bytes),
      end: () => sink.end(),
      cut,
      onStrike: (fault) => this.struck.push(fault),
      healed: this.#healed.signal,
    });
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
