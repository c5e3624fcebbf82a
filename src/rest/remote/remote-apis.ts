import type { OperatedApis, PublishRequest } from "../../operations/apis/api-operations.ts";
import type { InstanceChange } from "../../operations/apis/api-instance.ts";
import type { ApiSummary, InstanceView, PublishedView, VersionView } from "../../operations/apis/api-view.ts";
import type { VersionState } from "../../workshop/publish/published.ts";
import { RemoteClient, type RemoteOptions } from "./gateway-client.ts";

/** The published APIs of a gateway elsewhere, through its REST API. */
export class RemoteApis implements OperatedApis {
  readonly #client: RemoteClient;
  readonly #path: string;

  /** Without a tenant: that of the key. */
  static async open(options: RemoteOptions, tenant: string | undefined): Promise<RemoteApis> {
    const client = new RemoteClient(options);
    return new RemoteApis(client, tenant ?? (await client.session()).tenant);
  }

  private constructor(client: RemoteClient, tenant: string) {
    this.#client = client;
    this.#path = `/tenants/${encodeURIComponent(tenant)}/apis`;
  }

  list(): Promise<ApiSummary[]> {
    return this.#client.list(this.#path);
  }

  versions(api: string): Promise<VersionView[]> {
    return this.#client.list(this.#pathOf(api, "versions"));
  }

  instances(api: string): Promise<InstanceView[]> {
    return this.#client.list(this.#pathOf(api, "instances"));
  }

  publish(request: PublishRequest): Promise<PublishedView> {
    return this.#client.send("POST", this.#path, request);
  }

  rollback(
    api: string,
    { instance = "live", to }: { instance?: string | undefined; to?: string | undefined },
  ): Promise<InstanceView> {
    return this.#client.send("POST", this.#pathOf(api, "instances", instance, "rollback"), { to });
  }

  setState(api: string, version: string, state: VersionState): Promise<VersionView> {
    return this.#client.send("PATCH", this.#pathOf(api, "versions", version), { state });
  }

  putInstance(
    api: string,
    name: string,
    change: InstanceChange & { version?: string | undefined },
  ): Promise<InstanceView> {
    return this.#client.send("PATCH", this.#pathOf(api, "instances", name), change);
  }

  async removeInstance(api: string, name: string): Promise<void> {
    await this.#client.send("DELETE", this.#pathOf(api, "instances", name));
  }

  #pathOf(...parts: readonly string[]): string {
    return [this.#path, ...parts.map(encodeURIComponent)].join("/");
  }
}
