import type { SecretStore, StoredSecret, StoredSecrets } from "../../auth/secrets.ts";
import { RemoteClient, queryText, MAX_PAGE, type RemoteOptions } from "./gateway-client.ts";

interface WrittenSecret {
  name: string;
  origins: string[];
}

interface WrittenSecrets {
  items: WrittenSecret[];
  unreadable: number;
  next: string | null;
}

/** The secrets of a gateway elsewhere, through its REST API: they go in, and only their names come out. */
export class RemoteSecrets implements Pick<SecretStore, "list" | "set" | "remove"> {
  readonly #client: RemoteClient;
  readonly #path: string;

  /** Without a tenant: that of the key. */
  static async open(options: RemoteOptions, tenant: string | undefined): Promise<RemoteSecrets> {
    const client = new RemoteClient(options);
    return new RemoteSecrets(client, tenant ?? (await client.session()).tenant);
  }

  private constructor(client: RemoteClient, tenant: string) {
    this.#client = client;
    this.#path = `/tenants/${encodeURIComponent(tenant)}/secrets`;
  }

  async list(): Promise<StoredSecrets> {
    const secrets: StoredSecrets["secrets"] = [];
    let cursor: string | undefined;
    for (;;) {
      const query = queryText({ limit: MAX_PAGE, cursor });
      const { items, next, unreadable }: WrittenSecrets = await this.#client.send("GET", `${this.#path}${query}`);
      secrets.push(...items.map(({ name, origins }) => ({ name, origins: decided(origins) })));
      if (next === null) return { secrets, unreadable };
      cursor = next;
    }
  }

  async set(name: string, value: string, origins?: readonly string[]): Promise<StoredSecret> {
    const stored = await this.#client.send<WrittenSecret>("PUT", this.#pathOf(name), { value, origins });
    return { value, origins: decided(stored.origins) };
  }

  /** The gateway itself refuses a name that it does not know. */
  async remove(name: string): Promise<boolean> {
    await this.#client.send("DELETE", this.#pathOf(name));
    return true;
  }

  #pathOf(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }
}

function decided(origins: readonly string[]): readonly string[] | undefined {
  return origins.length === 0 ? undefined : origins;
}
