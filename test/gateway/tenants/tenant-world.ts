import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gateway, type AuditRecord, type ServeOptions } from "../../../src/gateway/index.ts";
import { Host, type HostOptions } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { META, TASKS_EXTENSION } from "../../../src/protocol/meta.ts";
import type { Logger } from "../../../src/text/logger.ts";
import { modern, OpenStream, send, type Answer } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";
import { MarkedServers, TENANTS, type TenantName } from "./marked-servers.ts";

export interface TenantWorldOptions extends Pick<ServeOptions, "limits" | "sets"> {
  /** Of every host. */
  processes?: HostOptions["processes"];
  /** Called before the host of a tenant is opened, in place of `markedHost` where it returns one. */
  opening?: (tenant: string, signal: AbortSignal) => Promise<Host | undefined | void>;
}

export interface Asking {
  server?: string | undefined;
  /** The endpoint of this set instead. */
  set?: string | undefined;
  capabilities?: object;
}

const CAPABILITIES = { extensions: { [TASKS_EXTENSION]: {} }, elicitation: { form: {} } };

/** A gateway for three tenants. Callers say who they are in a header: `x-user: acme/alice`. */
export class TenantWorld implements AsyncDisposable {
  readonly servers = Object.fromEntries(TENANTS.map((name) => [name, new MarkedServers(name)])) as Record<
    TenantName,
    MarkedServers
  >;
  /** The tenants that were opened, each time. */
  readonly openings: string[] = [];
  readonly hosts: { tenant: string; host: Host }[] = [];
  readonly logged: { level: string; message: string; data: Params }[] = [];
  readonly audited: AuditRecord[] = [];
  readonly #folder: string;
  readonly #processes: HostOptions["processes"];
  #gateway: Gateway | undefined;

  static async open({ opening, processes, ...options }: TenantWorldOptions = {}): Promise<TenantWorld> {
    const world = new TenantWorld(await mkdtemp(join(tmpdir(), "nexus-tenants-")), processes);
    const authenticate: ServeOptions["authenticate"] = (headers) => {
      const [tenant = "", id = ""] = String(headers["x-user"] ?? "default/guest").split("/");
      return { tenant, id };
    };
    const openTenant: ServeOptions["openTenant"] = async (tenant, signal) => {
      world.openings.push(tenant);
      return (await opening?.(tenant, signal)) ?? world.markedHost(tenant);
    };
    world.#gateway = await Gateway.open({
      host: await world.markedHost("default"),
      port: 0,
      authenticate,
      openTenant,
      logger: world.#logger,
      audit: (record) => void world.audited.push(record),
      ...options,
    });
    await world.gateway.ready();
    return world;
  }

  private constructor(folder: string, processes: HostOptions["processes"]) {
    this.#folder = folder;
    this.#processes = processes;
  }

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error("the gateway is not open yet");
    return this.#gateway;
  }

  async markedHost(tenant: string): Promise<Host> {
    const { entries } = this.servers[tenant as TenantName] ?? new MarkedServers(tenant);
    const stateFolder = join(this.#folder, tenant);
    const host = await Host.open({ servers: entries, stateFolder, tenant, processes: this.#processes });
    this.hosts.push({ tenant, host });
    return host;
  }

  url(path: string): string {
    return new URL(path, this.gateway.url).href;
  }

  endpoint(server?: string, set?: string): string {
    if (set !== undefined) return this.url(`/sets/${set}/mcp`);
    return this.url(server === undefined ? "/mcp" : `/servers/${server}/mcp`);
  }

  /** One request of a client of the newest revision. */
  post(user: string, method: string, params: Params = {}, { server, set, capabilities }: Asking = {}): Promise<Answer> {
    const meta = { [META.clientCapabilities]: capabilities ?? CAPABILITIES };
    return send(this.endpoint(server, set), modern(method, params, { meta, headers: { "x-user": user } }));
  }

  async ask(user: string, method: string, params: Params = {}, asking: Asking = {}): Promise<WireMessage> {
    const { events, json } = await this.post(user, method, params, asking);
    return events.at(-1) ?? json;
  }

  /** A stream of changes; resolves when it is acknowledged. */
  async listen(user: string, notifications: Params, { server }: Asking = {}): Promise<OpenStream> {
    const meta = { [META.clientCapabilities]: CAPABILITIES };
    const asked = modern("subscriptions/listen", { notifications }, { meta, headers: { "x-user": user } });
    const stream = new OpenStream(this.endpoint(server), asked);
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (stream.events.length === 0 && !stream.ended) return;
        clearInterval(timer);
        resolve();
      }, 2);
    });
    return stream;
  }

  session(user: string, { server, set, capabilities = {} }: Asking = {}, version = "2025-11-25"): Promise<LegacyWire> {
    return LegacyWire.open(this.endpoint(server, set), version, capabilities, { "x-user": user });
  }

  async get(user: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return send(this.url(path), { method: "GET", headers: { "x-user": user, ...headers } });
  }

  /** The newest host of a tenant. */
  hostOf(tenant: string): Host {
    const found = this.hosts.findLast((each) => each.tenant === tenant);
    if (!found) throw new Error(`${tenant} was not opened`);
    return found.host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #logger(): Logger {
    const at =
      (level: string): Logger["info"] =>
      (message, data = {}) =>
        void this.logged.push({ level, message, data });
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }
}

/** The names of a list's items. */
export function namesIn({ result }: WireMessage): string[] {
  const lists = ["tools", "prompts", "resources", "resourceTemplates"].flatMap((member) => result?.[member] ?? []);
  return (lists as Params[]).map(({ name, uri, uriTemplate }) => String(uriTemplate ?? uri ?? name));
}
