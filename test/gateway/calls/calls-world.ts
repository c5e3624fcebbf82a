import { correlationOf } from "../../../src/server/core/request-meta.ts";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type CallLimits, Calls } from "../../../src/gateway/calls/calls.ts";
import { Seal } from "../../../src/server/core/seal.ts";
import type { Caller } from "../../../src/server/core/core.ts";
import type { GatewayExchange } from "../../../src/gateway/names/view.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import type { Lease } from "../../../src/host/servers/lease.ts";
import { Host, type HostEntry } from "../../../src/index.ts";
import type { Message, Notification, Params, Request, Result } from "../../../src/protocol/json-rpc.ts";
import type { Question } from "../../../src/protocol/mcp.ts";
import { isFull } from "../../fixtures/depth.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import type { TranscriptEntry } from "../../fixtures/servers/transcript.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

/** How a server of either era is reached. */
export type Upstream = "modern stdio" | "modern http" | "legacy stdio" | "legacy http" | "legacy sse";

/** All of them; in a quick run those without a process of their own. What crosses a pipe is tried in calls-passed. */
export function upstreams(...all: Upstream[]): Upstream[] {
  return isFull ? all : all.filter((upstream) => !upstream.endsWith("stdio"));
}

export interface CallsWorldOptions {
  limits?: Partial<CallLimits>;
  entry?: Partial<HostEntry>;
  /** A server of its own, as a module for a child process. */
  script?: string;
  /** Of a legacy server. */
  revision?: "2025-11-25" | "2025-06-18";
}

/** What a test says about its caller; the rest is a modern caller that declares nothing. */
export type CallerOptions = Partial<
  Pick<GatewayExchange, "principal" | "signal" | "endpoint"> & Omit<Caller, "notify">
> & {
  told?: Notification[];
};

/** One real server behind a real host, and the calls of a gateway in front of it. */
export class CallsWorld implements AsyncDisposable {
  readonly host: Host;
  readonly calls: Calls;
  readonly #transcript: () => Promise<TranscriptEntry[]>;
  readonly #end: () => Promise<unknown>;

  static async open(upstream: Upstream, options: CallsWorldOptions = {}): Promise<CallsWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-calls-"));
    const revision = upstream.startsWith("modern") ? "2026-07-28" : (options.revision ?? "2025-11-25");
    let entry: HostEntry;
    let transcript: () => Promise<TranscriptEntry[]>;
    let close = async () => {};
    if (options.script !== undefined) {
      entry = { command: process.execPath, args: ["--input-type=module", "--eval", options.script] };
      transcript = async () => [];
    } else if (upstream.endsWith("stdio")) {
      const file = join(folder, "transcript");
      entry = stdioFixture(["--revision", revision, "--transcript", file]);
      transcript = async () => entriesIn(await readFile(file, "utf8").catch(() => ""));
    } else {
      const isSse = upstream === "legacy sse";
      const fixture = await startHttpFixture({ revision: isSse ? "2024-11-05" : revision });
      entry = isSse ? { url: fixture.sseUrl, type: "sse" } : { url: fixture.url };
      transcript = async () => fixture.transcript.entries;
      close = () => fixture.close();
    }
    const servers = { up: { ...entry, ...options.entry } };
    const host = await Host.open({ servers, stateFolder: join(folder, "state") });
    const counted = countingLeases(host);
    const calls = new Calls({ host: counted.host, seal: new Seal(), limits: options.limits });
    return new CallsWorld(host, calls, transcript, async () => {
      await calls.close();
      // Whatever a test did: nothing is kept of a connection that nobody uses, and none is given back twice.
      expect(counted.leases).toEqual(counted.leases.map(() => "given back"));
      await host.close();
      await close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  private constructor(
    host: Host,
    calls: Calls,
    transcript: () => Promise<TranscriptEntry[]>,
    end: () => Promise<unknown>,
  ) {
    this.host = host;
    this.calls = calls;
    this.#transcript = transcript;
    this.#end = end;
  }

  /** Calls a tool. */
  tool(name: string, args: object = {}, caller: CallerOptions = {}, more: Params = {}): Promise<Result> {
    return this.run("tools/call", { name, arguments: args, ...more }, caller);
  }

  run(method: string, params: Params, options: CallerOptions = {}, server = "up"): Promise<Result> {
    return this.calls.run({ server, method, params, exchange: exchangeOf(method, params, options) });
  }

  /** The requests of this method that arrived at the server. */
  async requests(method: string): Promise<Request[]> {
    return (await this.#messages("in")).filter(
      (message): message is Request => "method" in message && message.method === method,
    );
  }

  /** What the server was answered. */
  async answers(): Promise<Message[]> {
    return (await this.#messages("in")).filter((message) => !("method" in message));
  }

  /** Calls of tools that the server neither answered nor was told to give up. */
  async openCalls(): Promise<number> {
    const over = new Set<unknown>();
    for (const message of await this.#messages("out")) if (!("method" in message)) over.add(message.id);
    for (const { params } of await this.requests("notifications/cancelled")) over.add(params?.["requestId"]);
    return (await this.requests("tools/call")).filter(({ id }) => !over.has(id)).length;
  }

  async #messages(direction: "in" | "out"): Promise<Message[]> {
    const entries = await this.#transcript();
    return entries.flatMap((entry) =>
      entry.direction === direction && entry.message ? [entry.message as Message] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

function exchangeOf(method: string, params: Params, options: CallerOptions): GatewayExchange {
  const {
    principal = ANYBODY,
    signal = new AbortController().signal,
    endpoint = { kind: "all" },
    told,
    ...caller
  } = options;
  return {
    endpoint,
    principal,
    method,
    params,
    signal,
    ...correlationOf(caller.trace, undefined),
    caller: {
      era: "modern",
      version: caller.era === "legacy" ? "2025-11-25" : "2026-07-28",
      owner: "somebody",
      capabilities: {},
      logLevel: undefined,
      progressToken: undefined,
      client: undefined,
      trace: undefined,
      ask: undefined,
      notify: (notification) => void told?.push(notification),
      ...caller,
    },
  };
}

/** A legacy caller whose user answers so. */
export function legacyCaller(
  answer: (question: Question) => Params | Promise<Params>,
  more: CallerOptions = {},
): CallerOptions {
  return { era: "legacy", capabilities: EVERYTHING, ask: async (question) => answer(question), ...more };
}

export const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

export function textOf(result: Result): string {
  return (result["content"] as { text: string }[]).map(({ text }) => text).join("");
}

/** The keys under which an `input_required` asks. */
export function keysOf(result: Result): string[] {
  return Object.keys(result["inputRequests"] ?? {});
}

/** The call made again, with this answer to everything that was asked. */
export function retryOf(asked: Result, answer: Params): Params {
  const inputResponses = Object.fromEntries(keysOf(asked).map((key) => [key, answer]));
  return asked["requestState"] === undefined
    ? { inputResponses }
    : { inputResponses, requestState: asked["requestState"] };
}

/** The same host, and what became of each lease. */
function countingLeases(host: Host): { host: Host; leases: string[] } {
  const leases: string[] = [];
  const counted = (taken: Lease): Lease => {
    const at = leases.push("taken") - 1;
    const release = () => {
      leases[at] = leases[at] === "taken" ? "given back" : "given back twice";
      taken.release();
    };
    return { client: taken.client, report: (error) => taken.report(error), release, [Symbol.dispose]: release };
  };
  const lease: Host["lease"] = async (server, request) => counted(await host.lease(server, request));
  const findLease: Host["findLease"] = (server, request) => {
    const taken = host.findLease(server, request);
    return taken && counted(taken);
  };
  const release: Host["release"] = (owner) => host.release(owner);
  return { host: { lease, findLease, release, find: (server) => host.find(server) } as Host, leases };
}

function entriesIn(transcript: string): TranscriptEntry[] {
  const lines = transcript.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as TranscriptEntry);
}
