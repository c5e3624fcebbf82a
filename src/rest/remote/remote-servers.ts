import type { ServerView } from "../../operations/servers.ts";
import { RemoteClient, queryText, type RemoteOptions } from "./gateway-client.ts";

/** What a server printed, the oldest line first. */
export interface RemoteLog {
  lines: { time: string | null; line: string }[];
}

/** The servers of a tenant at a gateway elsewhere, through its REST API. */
export class RemoteServers {
  readonly tenant: string;
  readonly #client: RemoteClient;
  readonly #path: string;

  /** Without a tenant: that of the key. */
  static async open(options: RemoteOptions, tenant: string | undefined): Promise<RemoteServers> {
    const client = new RemoteClient(options);
    return new RemoteServers(client, tenant ?? (await client.session()).tenant);
  }

  private constructor(client: RemoteClient, tenant: string) {
    this.tenant = tenant;
    this.#client = client;
    this.#path = `/tenants/${encodeURIComponent(tenant)}/servers`;
  }

  list(): Promise<ServerView[]> {
    return this.#client.list(this.#path);
  }

  /** Throws NAME_UNKNOWN, as all that follow do. */
  get(id: string): Promise<ServerView> {
    return this.#client.send("GET", this.#pathOf(id));
  }

  add(name: string, entry: object): Promise<ServerView> {
    return this.#client.send("POST", this.#path, { name, entry });
  }

  replace(id: string, entry: object): Promise<ServerView> {
    return this.#client.send("PUT", this.#pathOf(id), { entry });
  }

  async remove(id: string): Promise<void> {
    await this.#client.send("DELETE", this.#pathOf(id));
  }

  toggle(id: string, enabled: boolean): Promise<ServerView> {
    return this.#client.send("PATCH", this.#pathOf(id), { enabled });
  }

  /** The server and its state afterwards: that it fails again is no failure of this request. */
  retry(id: string): Promise<ServerView> {
    return this.#client.send("POST", `${this.#pathOf(id)}/retry`);
  }

  log(id: string, lines: number): Promise<RemoteLog> {
    return this.#client.send("GET", `${this.#pathOf(id)}/logs${queryText({ lines })}`);
  }

  #pathOf(id: string): string {
    return `${this.#path}/${encodeURIComponent(id)}`;
  }
}
