import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Gateway, type ServeOptions } from "../../../src/gateway/index.ts";
import { Host, type HostEntry, type HostOptions } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { META, TASKS_EXTENSION } from "../../../src/protocol/meta.ts";
import type { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { modern, send, type Answer } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { LegacyWire, send as post } from "../legacy/legacy-wire.ts";

export type AccessWorldOptions = Pick<ServeOptions, "decide" | "door" | "allowance" | "audit" | "sets" | "logger"> &
  Pick<HostOptions, "policy" | "definitions"> & {
    entries?: Record<string, HostEntry>;
  };

const TASKS = { extensions: { [TASKS_EXTENSION]: {} } };

/** A gateway on a socket in front of servers in this process; callers say who they are in a header. */
export class AccessWorld implements AsyncDisposable {
  readonly host: Host;
  readonly gateway: Gateway;
  readonly #folder: string;

  static async open(
    servers: Record<string, Pick<ScriptedServer, "transport">>,
    { entries = {}, policy, definitions, ...options }: AccessWorldOptions = {},
  ): Promise<AccessWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-access-"));
    const all = Object.keys(servers).map((id): [string, HostEntry] => [id, { api: `/${id}`, ...entries[id] }]);
    const host = await Host.open({
      servers: { ...entries, ...Object.fromEntries(all) },
      stateFolder: join(folder, "state"),
      policy,
      definitions,
      openApi: async ({ file }) => servers[basename(file)]?.transport ?? Promise.reject(new Error(`no ${file}`)),
    });
    const byHeader: ServeOptions["authenticate"] = (headers) => ({
      tenant: "default",
      id: String(headers["x-user"] ?? "guest"),
    });
    const authenticate = options.door ? undefined : byHeader;
    const gateway = await Gateway.open({ host, port: 0, authenticate, ...options });
    await gateway.ready();
    return new AccessWorld(host, gateway, folder);
  }

  private constructor(host: Host, gateway: Gateway, folder: string) {
    this.host = host;
    this.gateway = gateway;
    this.#folder = folder;
  }

  /** `/mcp`, or one server's own endpoint. */
  url(server?: string): string {
    return server === undefined ? this.gateway.url : this.gateway.url.replace("/mcp", `/servers/${server}/mcp`);
  }

  /** The endpoint of a set. */
  setUrl(set: string): string {
    return this.gateway.url.replace("/mcp", `/sets/${set}/mcp`);
  }

  /** One request of a client of the newest revision. */
  async ask(method: string, params: Params = {}, asking: Asking = {}): Promise<WireMessage> {
    const answer = await this.#post(method, params, asking);
    return answer.events.at(-1) ?? answer.json;
  }

  /** The same, with all that came: a caller could tell servers apart by any of it. */
  async exactly(method: string, params: Params = {}, asking: Asking = {}): Promise<object> {
    const { status, headers, text } = await this.#post(method, params, asking);
    return { status, type: headers["content-type"], text };
  }

  /** A session of an older client. */
  async session(asking: Asking = {}, version = "2025-11-25"): Promise<LegacyWire> {
    const { user = "guest" } = asking;
    const url = this.#urlOf(asking);
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "wire", version: "1" } };
    const message = { jsonrpc: "2.0", id: "i", method: "initialize", params };
    const response = await post(url, message, { "x-user": user });
    const id = response.headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": id, "x-user": user };
    const wire = new LegacyWire(url, headers, (await response.json()) as WireMessage);
    await wire.post({ method: "notifications/initialized" });
    return wire;
  }

  /** A plain GET, at any path. */
  async get(path: string, user = "guest"): Promise<{ status: number; text: string }> {
    const url = new URL(path, this.gateway.url);
    const { status, text } = await send(url.href, { method: "GET", headers: { "x-user": user } });
    return { status, text };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #urlOf({ server, set, view }: Asking): string {
    const url = set === undefined ? this.url(server) : this.setUrl(set);
    return view === "search" ? url.replace(/mcp$/, "search/mcp") : url;
  }

  #post(method: string, params: Params, asking: Asking): Promise<Answer> {
    const { user = "guest", headers = {}, capabilities } = asking;
    const url = this.#urlOf(asking);
    const meta = { [META.clientCapabilities]: capabilities ?? { ...TASKS, elicitation: { form: {} } } };
    return send(url, modern(method, params, { meta, headers: { "x-user": user, ...headers } }));
  }
}

export interface Asking {
  server?: string | undefined;
  /** The endpoint of this set instead. */
  set?: string | undefined;
  /** Its search view instead. */
  view?: "search";
  user?: string;
  headers?: Record<string, string | undefined>;
  capabilities?: object;
}

/** The names of a list's items. */
export function namesIn({ result }: WireMessage): string[] {
  const lists = ["tools", "prompts", "resources", "resourceTemplates"].flatMap((member) => result?.[member] ?? []);
  return (lists as Params[]).map(({ name, uri, uriTemplate }) => String(uriTemplate ?? uri ?? name));
}
