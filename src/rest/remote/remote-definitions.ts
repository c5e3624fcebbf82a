import { NexusError } from "../../errors/nexus-error.ts";
import { kindOf } from "../../host/definitions/held-definition.ts";
import type { PendingDefinition } from "../../store/keep/definitions.ts";
import type { OperatedDefinitions } from "../../operations/definition-operations.ts";
import { RemoteClient, type RemoteOptions } from "./gateway-client.ts";

/** The most that the REST API accepts at once. */
const AT_ONCE = 1000;

/** The definitions of a gateway elsewhere, through its REST API. */
export class RemoteDefinitions implements OperatedDefinitions {
  readonly #client: RemoteClient;
  readonly #path: string;

  /** Without a tenant: that of the key. */
  static async open(options: RemoteOptions, tenant: string | undefined): Promise<RemoteDefinitions> {
    const client = new RemoteClient(options);
    return new RemoteDefinitions(client, tenant ?? (await client.session()).tenant);
  }

  private constructor(client: RemoteClient, tenant: string) {
    this.#client = client;
    this.#path = `/tenants/${encodeURIComponent(tenant)}`;
  }

  /** The gateway itself refuses a server that it does not know, whatever is asked about it. */
  async requireServer(): Promise<void> {}

  async names(server: string): ReturnType<OperatedDefinitions["names"]> {
    const items = await this.#client.list<WrittenName>(`${this.#path}/definitions`, { server });
    return items.flatMap(({ kind, name }) => {
      const known = kindOf(kind);
      return known === undefined ? [] : [{ server, kind: known, name }];
    });
  }

  async pending(server?: string): Promise<PendingDefinition[]> {
    return (await this.#client.list<WrittenChange>(`${this.#path}/changes`, { server })).flatMap(pendingOf);
  }

  async read(pending: readonly PendingDefinition[]): Promise<PendingDefinition[]> {
    const read: PendingDefinition[] = [];
    for (const { id } of pending) {
      const change = await this.#client.send<WrittenChange>("GET", `${this.#path}/changes/${encodeURIComponent(id)}`);
      read.push(...pendingOf(change));
    }
    return read;
  }

  async accept(pending: readonly PendingDefinition[]): Promise<string[]> {
    const accepted: string[] = [];
    for (let at = 0; at < pending.length; at += AT_ONCE) {
      accepted.push(...(await this.#acceptSome(pending.slice(at, at + AT_ONCE))));
    }
    return accepted;
  }

  /** The gateway accepts all or none of them: those that have changed again are left out. */
  async #acceptSome(pending: readonly PendingDefinition[]): Promise<string[]> {
    if (pending.length === 0) return [];
    const changes = pending.map(({ id, hash }) => ({ id, hash: hash ?? null }));
    try {
      const { accepted } = await this.#client.send<{ accepted: string[] }>("POST", `${this.#path}/changes/accept`, {
        changes,
      });
      return accepted;
    } catch (error) {
      if (!(error instanceof NexusError) || error.code !== "DEFINITION_CHANGED") throw error;
      const now = new Map((await this.pending()).map(({ id, hash }) => [id, { hash }]));
      const same = pending.filter(({ id, hash }) => now.has(id) && now.get(id)?.hash === hash);
      if (same.length === pending.length) throw error;
      return this.#acceptSome(same);
    }
  }
}

/** As the REST API answers. */
interface WrittenName {
  kind: string;
  name: string;
}

interface WrittenChange extends WrittenName, Pick<PendingDefinition, "id" | "server" | "what"> {
  since: string;
  forSome: boolean;
  hash: string | null;
  accepted?: unknown;
  current?: unknown;
}

function pendingOf(change: WrittenChange): PendingDefinition[] {
  const { id, server, name, what, forSome, hash, since } = change;
  const kind = kindOf(change.kind);
  if (kind === undefined) return [];
  return [
    {
      id,
      server,
      kind,
      name,
      what,
      isForSome: forSome,
      since: Date.parse(since),
      hash: hash ?? undefined,
      accepted: change.accepted ?? undefined,
      current: change.current ?? undefined,
    },
  ];
}
