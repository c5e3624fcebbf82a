import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { Gateway, type ServeOptions } from "../../../src/gateway/index.ts";
import { Host, type HostEntry, type HostOptions, type HostServers } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { META } from "../../../src/protocol/meta.ts";
import { modern } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import type { TranscriptEntry } from "../../fixtures/servers/transcript.ts";

/** What a call came to, and how long it took. */
export interface Outcome {
  status: number;
  message: WireMessage;
  ms: number;
}

export interface CallExtras {
  capabilities?: object;
  meta?: Params;
  signal?: AbortSignal;
}

/** A modern client with one connection, which it keeps. */
export class ModernCaller implements Disposable {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** Connections it had to open. */
  connections = 0;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  tool(name: string, args: Params = {}, extras: CallExtras & { more?: Params } = {}): Promise<Outcome> {
    return this.request("tools/call", { name, arguments: args, ...extras.more }, extras);
  }

  request(method: string, params: Params = {}, { capabilities = {}, meta = {}, signal }: CallExtras = {}) {
    const sent = modern(method, params, {
      meta: { [META.clientCapabilities]: capabilities, ...meta },
      headers: this.#headers,
    });
    const startedAt = performance.now();
    return new Promise<Outcome>((resolve, reject) => {
      const options = {
        method: "POST",
        headers: sent.headers ?? {},
        agent: this.#agent,
        ...(signal ? { signal } : {}),
      };
      const req = request(this.#url, options, (res) => {
        let text = "";
        res.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        res.once("error", reject);
        res.once("end", () => {
          const data = text.startsWith("{") ? text : text.split("data: ").at(-1);
          const message = data ? (JSON.parse(data) as WireMessage) : {};
          resolve({ status: res.statusCode ?? 0, message, ms: performance.now() - startedAt });
        });
      });
      req.once("error", reject);
      req.once("socket", () => (this.connections += req.reusedSocket ? 0 : 1));
      req.end(sent.body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

export type WorldOptions = Omit<Partial<ServeOptions>, "host" | "surroundings" | "port">;

/** A gateway in this process, in front of servers that are processes, with a folder for what they write. */
export class FaultWorld implements AsyncDisposable {
  readonly gateway: Gateway;
  readonly #folder: string;

  static async open(
    servers: (folder: string) => HostServers,
    options: WorldOptions = {},
    hostOptions: HostOptions = {},
  ): Promise<FaultWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-faults-"));
    const host = await Host.open({ ...hostOptions, servers: servers(folder), stateFolder: join(folder, "state") });
    const gateway = await Gateway.open({ ...options, host, port: 0 });
    await gateway.ready();
    return new FaultWorld(gateway, folder);
  }

  private constructor(gateway: Gateway, folder: string) {
    this.gateway = gateway;
    this.#folder = folder;
  }

  url(server: string): string {
    return this.gateway.url.replace("/mcp", `/servers/${server}/mcp`);
  }

  caller(server: string, headers: Record<string, string> = {}): ModernCaller {
    return new ModernCaller(this.url(server), headers);
  }

  /** One of the numbers at /metrics. */
  metric(name: string, headers: Record<string, string> = {}): Promise<number> {
    return metricAt(this.gateway.url, name, headers);
  }

  /** The calls of tools that a server got, over all its connections. */
  async calls(server: string): Promise<number> {
    return (await messagesIn(this.#folder, server, "in")).filter(({ method }) => method === "tools/call").length;
  }

  /** Those that it neither answered nor was told to give up. */
  async openCalls(server: string): Promise<number> {
    const [heard, said] = await Promise.all([
      messagesIn(this.#folder, server, "in"),
      messagesIn(this.#folder, server, "out"),
    ]);
    const over = new Set<unknown>(said.filter(({ method }) => method === undefined).map(({ id }) => id));
    for (const { method, params } of heard) if (method === "notifications/cancelled") over.add(params?.["requestId"]);
    return heard.filter(({ method, id }) => method === "tools/call" && !over.has(id)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The everything server, each connection of which writes what it hears into the same file. */
export function recorded(folder: string, server: string, revision: string): HostEntry {
  return stdioFixture(["--revision", revision, "--transcript", join(folder, `${server}.transcript`)]);
}

async function messagesIn(folder: string, server: string, wanted: "in" | "out"): Promise<WireMessage[]> {
  const text = await readFile(join(folder, `${server}.transcript`), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TranscriptEntry)
    .filter(({ direction, message }) => direction === wanted && message !== undefined)
    .map(({ message }) => message as WireMessage);
}

export async function metricAt(url: string, name: string, headers: Record<string, string> = {}): Promise<number> {
  const text = await (await fetch(new URL("/metrics", url), { headers })).text();
  return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
}

export function textIn({ message }: Outcome): string {
  const content = message.result?.content as { text: string }[] | undefined;
  return content?.map(({ text }) => text).join("") ?? JSON.stringify(message);
}

/** What a gateway weighs after everything that nobody uses was thrown away. */
export interface Weight {
  heapBytes: number;
  /** Sockets, pipes, processes and timers. */
  resources: Record<string, number>;
}

const WEIGHED = fileURLToPath(new URL("../../fixtures/gateway/weighed-gateway.mjs", import.meta.url));

/** A gateway in a process of its own, so that nothing but the gateway is weighed. */
export class WeighedGateway implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  static async open(servers: Record<string, HostEntry>, limits: ServeOptions["limits"] = {}): Promise<WeighedGateway> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-weighed-"));
    const settings = JSON.stringify({ servers, limits, stateFolder: folder });
    const child = fork(WEIGHED, [settings], { execArgv: ["--expose-gc"] });
    const [said] = (await once(child, "message")) as [{ url: string }];
    return new WeighedGateway(child, said.url, folder);
  }

  private constructor(child: ChildProcess, url: string, folder: string) {
    this.#child = child;
    this.url = url;
    this.#folder = folder;
  }

  server(id: string): string {
    return this.url.replace("/mcp", `/servers/${id}/mcp`);
  }

  async weigh(): Promise<Weight> {
    const answered = once(this.#child, "message");
    this.#child.send("weigh");
    const [weight] = (await answered) as [Weight];
    return weight;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.send("close");
    const [code] = (await exited) as [number];
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    expect(code).toBe(0);
  }
}
