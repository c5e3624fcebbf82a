import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gateway, MemorySets, type ServeOptions } from "../../src/gateway/index.ts";
import { Host } from "../../src/index.ts";
import type { Params } from "../../src/protocol/json-rpc.ts";
import { META, TASKS_EXTENSION } from "../../src/protocol/meta.ts";
import { sqliteAddress } from "../../src/store/engine/database-address.ts";
import { MasterKeyPlace } from "../../src/store/master-key.ts";
import { Store } from "../../src/store/store.ts";
import { KeyDoor } from "../../src/team/key-door.ts";
import { SILENT } from "../../src/text/logger.ts";
import { modern, OpenStream, send, type Answer } from "../fixtures/gateway/wire.ts";
import { TEAM_KEYS } from "./team-keys.ts";
import { TeamServers, TENANTS, type TeamTenant } from "./team-servers.ts";
import { setsOf } from "./team-sets.ts";

export interface TeamAsking {
  /** Default: `/mcp`. */
  path?: string;
  capabilities?: object;
  headers?: Record<string, string>;
}

const TEAM_CAPABILITIES = { extensions: { [TASKS_EXTENSION]: {} }, elicitation: { form: {} } };

/** A gateway of three tenants with API keys in a store, and servers that say whose they are. */
export class TeamWorld implements AsyncDisposable {
  readonly servers = Object.fromEntries(TENANTS.map((name) => [name, new TeamServers(name)])) as Record<
    TeamTenant,
    TeamServers
  >;
  /** What each caller sends as its key. */
  readonly texts = new Map<string, string>();
  readonly store: Store;
  readonly sets = new MemorySets();
  readonly #folder: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #door: KeyDoor;
  #gateway: Gateway | undefined;

  static async open(limits: NonNullable<ServeOptions["limits"]> = {}): Promise<TeamWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-team-"));
    const masterKey = new MasterKeyPlace({ stateFolder: folder, platform: process.platform, variables: {} });
    const store = await Store.open({ address: sqliteAddress(join(folder, "nexus.db")), masterKey });
    const world = new TeamWorld(folder, store, await KeyDoor.open({ store, needs: "keys", logger: SILENT }));
    await world.#createKeys();
    for (const tenant of TENANTS) world.sets.replace(setsOf(tenant), tenant);
    world.#gateway = await Gateway.open({
      host: await world.#host("default"),
      port: 0,
      door: world.#door,
      sets: world.sets,
      sealKey: store.masterKey.derive("seal"),
      openTenant: (tenant) => world.#host(tenant),
      logger: SILENT,
      limits,
    });
    await world.gateway.ready();
    return world;
  }

  private constructor(folder: string, store: Store, door: KeyDoor) {
    this.#folder = folder;
    this.#door = door;
    this.store = store;
  }

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error("the gateway is not open yet");
    return this.#gateway;
  }

  url(path = "/mcp"): string {
    return new URL(path, this.gateway.url).href;
  }

  credentials(caller: string): Record<string, string> {
    const text = this.texts.get(caller) ?? "";
    return text === "" ? {} : { authorization: `Bearer ${text}` };
  }

  /** One request of a client of the newest revision. */
  post(
    caller: string,
    method: string,
    params: Params = {},
    { path, capabilities = TEAM_CAPABILITIES, headers = {} }: TeamAsking = {},
  ): Promise<Answer> {
    const { _meta, ...rest } = params;
    const meta = { [META.clientCapabilities]: capabilities, ...(_meta as object) };
    const asked = modern(method, rest, { meta, headers: { ...this.credentials(caller), ...headers } });
    return send(this.url(path), { ...asked, agent: this.#agent });
  }

  async get(caller: string, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
    const all = { ...this.credentials(caller), ...headers };
    return send(this.url(path), { method, headers: all, agent: this.#agent });
  }

  /** A message of an older client. */
  postLegacy(
    caller: string,
    message: object,
    { path, headers = {} }: Pick<TeamAsking, "path" | "headers"> = {},
  ): Promise<Answer> {
    const type = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const all = { ...type, ...this.credentials(caller), ...headers };
    return send(this.url(path), { headers: all, body: JSON.stringify(message), agent: this.#agent });
  }

  /** Opens a session of an older client; its id, or undefined where it is refused. */
  async openSession(caller: string, path?: string, protocolVersion = "2025-11-25"): Promise<string | undefined> {
    const clientInfo = { name: "wire", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const message = { jsonrpc: "2.0", id: "init", method: "initialize", params };
    const { headers } = await this.postLegacy(caller, message, path === undefined ? {} : { path });
    const id = headers["mcp-session-id"];
    return typeof id === "string" ? id : undefined;
  }

  /** A stream of changes. */
  listen(caller: string, notifications: Params, { path, headers = {} }: TeamAsking = {}): OpenStream {
    const meta = { [META.clientCapabilities]: TEAM_CAPABILITIES };
    const all = { ...this.credentials(caller), ...headers };
    return new OpenStream(this.url(path), modern("subscriptions/listen", { notifications }, { meta, headers: all }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.#gateway?.close();
    this.#door[Symbol.dispose]();
    await this.store.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #host(tenant: string): Promise<Host> {
    const { entries } = this.servers[tenant as TeamTenant];
    return Host.open({ servers: entries, stateFolder: join(this.#folder, tenant), tenant });
  }

  async #createKeys(): Promise<void> {
    const { keys, tenants } = this.store;
    for (const tenant of TENANTS) if (tenant !== "default") await tenants.create(tenant);
    for (const [name, { tenant, grants, role = "caller", fate }] of Object.entries(TEAM_KEYS)) {
      const expiresAt = fate === "expired" ? Date.now() - 1 : undefined;
      const { key, about } = await keys.create({ tenant, name, role, grants, expiresAt });
      this.texts.set(name, key);
      if (fate === "revoked") await keys.revoke(about.id);
      if (fate !== "rotated") continue;
      this.texts.set("the secret before a rotation", key);
      this.texts.set(name, (await keys.rotate(about.id, 0))?.key ?? "");
    }
    const [, id = ""] = (this.texts.get("acme-all") ?? "").split("_");
    const [, , secret = ""] = (this.texts.get("default-admin") ?? "").split("_");
    this.texts.set("the secret of another key", `nxs_${id}_${secret}`);
  }
}
