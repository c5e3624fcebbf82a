import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { NexusError } from "../../errors/nexus-error.ts";
import { codecFor, type Codec } from "../codec/codec.ts";
import type { FakeFailure, ToolFile } from "../file/tool-file.ts";
import { Answers, type Answer } from "./answers.ts";
import { isAccepted, maskedQuery, placeholderSecrets } from "./credentials.ts";
import { Failures, failureIn } from "./failing.ts";
import { offSchema } from "./off-schema.ts";
import { bodyOf, jsonOf, send, type Reply } from "./reply.ts";
import { receive } from "./received.ts";
import { Routes, type Route } from "./routes.ts";

export interface FakeOptions {
  /** Any free one unless given. */
  port?: number | undefined;
  /** A loopback address; 127.0.0.1 unless given. */
  host?: string | undefined;
}

/** A request that came, without its credentials. */
export interface SeenRequest {
  tool: string | undefined;
  method: string;
  /** Path and query, secrets masked. */
  address: string;
  body: string;
  /** What it says, as far as it could be read. */
  input: Record<string, unknown>;
  status: number;
}

const CONTROL = "/__fake";
const LOOPBACK = ["127.0.0.1", "::1", "localhost"];
/** Requests that are remembered; older ones are forgotten. */
const MAX_REQUESTS = 1_000;

/** An upstream made of a tool file: it takes what the file says, and nothing else. Only for this machine. */
export async function startFake(file: ToolFile, options: FakeOptions = {}): Promise<Fake> {
  const { port = 0, host = "127.0.0.1" } = options;
  if (!LOOPBACK.includes(host)) {
    throw new NexusError("ARGUMENTS_INVALID", `The fake listens on loopback addresses only, not on ${host}`, {
      hint: "It takes placeholder credentials from everyone. Leave the host out.",
    });
  }
  const fake = new Fake(file);
  await fake.listen(port, host);
  return fake;
}

export class Fake implements AsyncDisposable {
  /** The newest last. */
  readonly requests: SeenRequest[] = [];
  readonly #file: ToolFile;
  readonly #routes: Routes;
  readonly #answers: Answers;
  readonly #failures = new Failures();
  readonly #codecs: Record<string, { request?: Codec; response?: Codec }>;
  readonly #closing = new AbortController();
  readonly #server: Server;
  #host = "";

  /** For startFake(), which lets it listen. */
  constructor(file: ToolFile) {
    this.#file = file;
    this.#routes = new Routes(file);
    this.#answers = new Answers(file);
    this.#codecs = codecsOf(file);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** In place of `upstream.base`. */
  get url(): string {
    const host = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return `http://${host}:${this.port}${new URL(this.#file.upstream.base).pathname}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** The credentials it takes, by name as in the file. */
  get secrets(): Record<string, string> {
    return placeholderSecrets(this.#file);
  }

  /** Lets the next `times` requests fail; only those of `tool`, where one is given. */
  fail(failure: FakeFailure, times = 1, tool?: string): void {
    this.#failures.add(failure, times, tool);
  }

  /** Nothing fails any more. */
  recover(): void {
    this.#failures.clear();
  }

  async listen(port: number, host: string): Promise<void> {
    this.#host = host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, port)));
      this.#server.listen(port, host, resolve);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? "/", "http://fake");
      if (url.pathname === CONTROL) return send(response, this.#controlled(request, body));
      const found = this.#routes.find(request.method ?? "", url.pathname);
      if (!found || !("tool" in found)) {
        this.#remember(request, url, { status: found ? 405 : 404 });
        return send(response, { status: found ? 405 : 404, type: "text/plain", body: "No tool has this address.\n" });
      }
      const failure = this.#failures.next(found.tool);
      const reply = this.#reply(request, { url, body, route: found }, failure);
      if (failure && "delayMs" in failure) await pause(failure.delayMs, undefined, { signal: this.#closing.signal });
      send(response, reply, { cut: failure !== undefined && "cut" in failure });
    } catch {
      // Whoever asked is gone, or the fake is.
      response.destroy();
    }
  }

  #reply(
    request: IncomingMessage,
    { url, body, route }: { url: URL; body: Uint8Array; route: Route },
    failure: FakeFailure | undefined,
  ): Reply {
    const { tool, spec } = route;
    const arrival = { query: url.searchParams, headers: request.headers, body };
    const { input, problems } = receive(this.#file, route, arrival, this.#codecs[tool]?.request);
    const remember = (status: number) => this.#remember(request, url, { route, body, input, status });
    if (failure && "status" in failure) {
      remember(failure.status);
      return { status: failure.status, type: "text/html", body: `<html><body>${failure.status}</body></html>` };
    }
    const [problem] = problems;
    const answer = !isAccepted(this.#file, spec, arrival, input)
      ? this.#answers.refused(tool, input)
      : problem === undefined
        ? this.#answers.to(tool, input)
        : this.#answers.invalid(tool, input, problems.slice(0, 3).join("; "));
    remember(answer.status);
    return this.#spoiled(this.#encoded(tool, answer), failure);
  }

  #encoded(tool: string, { status, value }: Answer): Reply {
    const as = this.#file.tools[tool]?.response.as ?? "none";
    const codec = this.#codecs[tool]?.response;
    if (typeof value === "string" || !codec) {
      return { status, type: "text/plain", body: typeof value === "string" ? value : "" };
    }
    const type = as === "xml" ? "application/xml; charset=utf-8" : "application/json";
    return { status, type, body: codec.encode(value as Record<string, unknown>), as: as === "xml" ? "xml" : "json" };
  }

  #spoiled(reply: Reply, failure: FakeFailure | undefined): Reply {
    if (!failure) return reply;
    if ("broken" in failure) return { ...reply, body: reply.body.slice(0, Math.ceil(reply.body.length * 0.7)) };
    if ("offSchema" in failure && reply.as) return { ...reply, body: offSchema(reply.body, reply.as) };
    return reply;
  }

  /** `GET`: which requests came. `POST {"fail": …, "times": 1}`: how the next ones fail; null for not at all. */
  #controlled(request: IncomingMessage, body: Uint8Array): Reply {
    if (request.method === "GET") return jsonOf(200, { requests: this.requests });
    // A page in a browser cannot send this type without being asked about it first.
    if (request.method !== "POST" || request.headers["content-type"] !== "application/json") {
      return jsonOf(405, { error: "GET, or POST with Content-Type: application/json" });
    }
    const { fail, times = 1, tool } = orderIn(body);
    if (fail === null) {
      this.recover();
      return jsonOf(200, { failing: false });
    }
    const failure = failureIn(fail);
    if (!failure || typeof times !== "number" || !(times >= 1)) {
      const error = `{"fail": {"status": 503} | {"delayMs": 2000} | {"cut": true} | {"broken": true} | {"offSchema": true} | null, "times": 1}`;
      return jsonOf(400, { error: `write ${error}` });
    }
    this.fail(failure, times, typeof tool === "string" ? tool : undefined);
    return jsonOf(200, { failing: failure, times });
  }

  #remember(
    request: IncomingMessage,
    url: URL,
    seen: { route?: Route; body?: Uint8Array; input?: Record<string, unknown>; status: number },
  ): void {
    const query = maskedQuery(this.#file, seen.route?.spec, url.searchParams);
    this.requests.push({
      tool: seen.route?.tool,
      method: request.method ?? "",
      address: query === "" ? url.pathname : `${url.pathname}?${query}`,
      body: Buffer.from(seen.body ?? []).toString("utf8"),
      input: seen.input ?? {},
      status: seen.status,
    });
    if (this.requests.length > MAX_REQUESTS) this.requests.shift();
  }
}

function codecsOf(file: ToolFile): Record<string, { request?: Codec; response?: Codec }> {
  return Object.fromEntries(
    Object.entries(file.tools).map(([tool, { input, request, response }]) => {
      const isCoded = response.type !== undefined && (response.as === "xml" || response.as === "json");
      return [
        tool,
        {
          ...(request.body === undefined ? {} : { request: codecFor(file, input, request.body) }),
          ...(isCoded ? { response: codecFor(file, response.type ?? "", response.as as "xml" | "json") } : {}),
        },
      ];
    }),
  );
}

function orderIn(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function cannotListen(cause: NodeJS.ErrnoException, port: number): NexusError {
  const why = cause.code === "EADDRINUSE" ? "somebody else listens there" : cause.message;
  return new NexusError("CONNECTION_FAILED", `The fake cannot listen on port ${port}: ${why}`, {
    phase: "start",
    hint: "Take another port, or 0 for any that is free.",
    cause,
    mayHaveReached: false,
  });
}
