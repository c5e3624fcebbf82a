import { mkdtemp, realpath, rm } from "node:fs/promises";
import { request, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_TENANT } from "../../src/auth/server-instance.ts";
import { DEFAULT_AUDIT } from "../../src/config/gateway-settings.ts";
import { Gateway } from "../../src/gateway/index.ts";
import { Host } from "../../src/index.ts";
import { Operations } from "../../src/rest/operations.ts";
import type { Principal } from "../../src/server/core/principal.ts";
import { sqliteAddress } from "../../src/store/engine/database-address.ts";
import type { KeyRole, NewApiKey } from "../../src/store/keep/api-keys.ts";
import { MasterKeyPlace } from "../../src/store/master-key.ts";
import { Store } from "../../src/store/store.ts";
import { KeyDoor } from "../../src/team/key-door.ts";
import { RequestAllowance } from "../../src/team/request-allowance.ts";
import { StoredAudit } from "../../src/team/stored-audit.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { SILENT } from "../../src/text/logger.ts";

export const TOOL_FILE = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));

export interface RestRequest {
  key?: string | undefined;
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface RestAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Of an answer that is JSON. */
  body: Record<string, unknown>;
}

interface WorldParts {
  folder: string;
  store: Store;
  door: KeyDoor;
  allowance: RequestAllowance;
  upstream: HttpFixture;
}

/** A gateway of two tenants with the REST API, in this process. */
export class RestWorld implements AsyncDisposable {
  readonly store: Store;
  readonly door: KeyDoor;
  readonly operations: Operations;
  readonly folder: string;
  /** Headers of requests with wrong keys, as they would be recorded. */
  readonly refused: IncomingHttpHeaders[] = [];
  readonly #upstream: HttpFixture;
  readonly #audit: StoredAudit;
  readonly #allowance: RequestAllowance;
  #gateway: Gateway | undefined;

  /** `variables`: of the environment, which may have the master key. */
  static async open({ variables = {} }: { variables?: Record<string, string> } = {}): Promise<RestWorld> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "nexus-rest-")));
    const masterKey = new MasterKeyPlace({ stateFolder: folder, platform: process.platform, variables });
    const store = await Store.open({ address: sqliteAddress(join(folder, "nexus.db")), masterKey });
    const door = await KeyDoor.open({ store, needs: "keys", logger: SILENT });
    const limitsOf = (principal: Principal) => door.limitsOf(principal);
    const allowance = await RequestAllowance.open({ store, limitsOf, logger: SILENT });
    const upstream = await startHttpFixture({ revision: "2026-07-28" });
    const world = new RestWorld({ folder, store, door, allowance, upstream });
    const { operations } = world;
    world.#gateway = await Gateway.open({
      host: await world.#host("default"),
      port: 0,
      door,
      allowance,
      operations,
      audit: {
        record: () => undefined,
        recordRefused: (headers) => void world.refused.push(headers),
        isClosed: false,
        requireReady() {},
      },
      openTenant: (tenant) => world.#host(tenant),
      logger: SILENT,
    });
    operations.attach(world.#gateway);
    await store.tenants.create("shop");
    return world;
  }

  private constructor({ folder, store, door, allowance, upstream }: WorldParts) {
    this.#upstream = upstream;
    this.#allowance = allowance;
    this.folder = folder;
    this.store = store;
    this.door = door;
    // Changes are recorded before they are answered.
    const settings = { ...DEFAULT_AUDIT, onFailure: "closed" as const, retentionMs: undefined };
    this.#audit = new StoredAudit({ store, settings, logger: SILENT });
    const parts = { store, door, allowance, audit: this.#audit, stateFolder: folder };
    this.operations = new Operations({ ...parts, logger: SILENT });
  }

  /**
   * Each tenant has the same server, or those that were kept for it; `default` also two of tool files, of which one does not
   * exist yet.
   */
  async #host(tenant: string): Promise<Host> {
    const { folder, store, everything } = this;
    const hotel = { api: TOOL_FILE, upstream: "fake", auto_start: false };
    const draft = { ...hotel, api: join(folder, "draft.nexus.yaml") };
    const { servers: kept } = await store.servers(tenant).list();
    const ofTenant =
      kept.length === 0 ? { everything } : Object.fromEntries(kept.map(({ name, entry }) => [name, entry]));
    const servers = tenant === DEFAULT_TENANT ? { everything, hotel, draft } : ofTenant;
    const host = await Host.open({ tenant, servers, stateFolder: folder, definitions: store.ledger(tenant) });
    this.operations.follow(host);
    await host.ready();
    return host;
  }

  /** The entry of the server that each tenant has. */
  get everything(): { url: string } {
    return { url: this.#upstream.url };
  }

  get origin(): string {
    return new URL(this.#gateway?.url ?? "").origin;
  }

  /** The text of a new key. */
  async newKey(
    role: KeyRole,
    tenant = "default",
    options: Pick<NewApiKey, "allTenants" | "limits"> = {},
  ): Promise<string> {
    const grants = { allow: ["*"], deny: [], readOnly: false };
    return (await this.store.keys.create({ tenant, name: role, role, grants, ...options })).key;
  }

  /** One request with exactly these headers: `fetch` would add some of its own. `path` below /api/v1, or a whole one. */
  call(method: string, path: string, { key, body, headers = {} }: RestRequest = {}): Promise<RestAnswer> {
    const url = /^\/(console|servers)\b/.test(path) ? path : `/api/v1${path}`;
    const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const all = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(sent === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const req = request(new URL(url, this.origin), { method, headers: all }, (res) => {
        let text = "";
        const type = String(res.headers["content-type"]);
        res.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          // Such a stream has no end of its own.
          if (type === "text/event-stream") req.destroy();
        });
        res
          .on("error", (error) => (text === "" ? reject(error) : undefined))
          .on("close", () => {
            const isJson = /^application\/(problem\+)?json$/.test(type) && text !== "";
            const parsed = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
            resolve({ status: res.statusCode ?? 0, headers: res.headers, text, body: parsed });
          });
      });
      req.on("error", reject).end(sent);
    });
  }

  /** Signs in with the one-time link. */
  async signIn(): Promise<Browser> {
    const link = new URL(this.operations.consoleLink(this.origin));
    const { headers } = await this.call("GET", `${link.pathname}${link.search}`);
    return this.browser(cookieIn(headers));
  }

  async browser(cookie: string): Promise<Browser> {
    const { body } = await this.call("GET", "/session", { headers: { cookie } });
    return { cookie, token: String(body["csrfToken"]) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.close();
    await this.operations[Symbol.asyncDispose]();
    this.door[Symbol.dispose]();
    await this.#allowance.close();
    await this.#audit[Symbol.asyncDispose]();
    await this.store.close();
    await this.#upstream[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface Browser {
  cookie: string;
  token: string;
}

/** The pair of the cookie that an answer sets. */
export function cookieIn(headers: RestAnswer["headers"]): string {
  const [set = ""] = headers["set-cookie"] ?? [];
  return set.split(";")[0] ?? "";
}
