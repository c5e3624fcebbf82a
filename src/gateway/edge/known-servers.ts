import type { Host } from "../../host/host.ts";

/** Which servers there are, without asking the host for a list with every request. */
export class KnownServers implements Disposable {
  readonly #host: Pick<Host, "servers" | "on">;
  readonly #stop: () => void;
  #ids: ReadonlySet<string> = new Set();

  constructor(host: Pick<Host, "servers" | "on">) {
    this.#host = host;
    // One that was removed has stopped.
    this.#stop = host.on(({ kind }) => {
      if (kind === "state") this.#ids = new Set();
    });
  }

  has(id: string): boolean {
    if (this.#ids.has(id)) return true;
    this.#ids = new Set(this.#host.servers().map((server) => server.id));
    return this.#ids.has(id);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}
