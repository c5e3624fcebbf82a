import type { Host } from "../../host/host.ts";

/** Which servers there are: asked with every request, for its path and for its metrics. */
export class KnownServers {
  readonly #host: Pick<Host, "find">;

  constructor(host: Pick<Host, "find">) {
    this.#host = host;
  }

  has(id: string): boolean {
    return this.#host.find(id) !== undefined;
  }
}
