import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { NexusError } from "../../errors/nexus-error.ts";
import { asHost, isLoopback } from "../../text/loopback.ts";
import { OriginGuard, type ForeignRequest } from "../../server/http/http-listener.ts";
import type { FakeFailure, ToolFile } from "../file/model/tool-file.ts";
import { placeholderSecrets } from "./credentials.ts";
import { Failures } from "./failures.ts";
import { type FakeReply, Responder, type SeenRequest } from "./responder.ts";

const MAX_BODY = 32 * 1024 * 1024;

export interface FakeOptions {
  /** Default: any free port. */
  port?: number | undefined;
  /** A loopback address; default: 127.0.0.1. */
  host?: string | undefined;
}

const OPTIONS: OptionNames<FakeOptions> = {
  port: true,
  host: true,
};

/** Maximum number of requests that are kept; older ones are dropped. */
const MAX_REQUESTS = 1_000;

/**
 * Starts a fake upstream that is generated from a tool file. It accepts only what the file declares, and only from
 * this machine.
 */
export async function startFake(file: ToolFile, options: FakeOptions = {}): Promise<Fake> {
  checkOptions("startFake", options, OPTIONS);
  const { port = 0, host = "127.0.0.1" } = options;
  if (!isLoopback(host)) {
    throw new NexusError("ARGUMENTS_INVALID", `The fake listens on loopback addresses only, not on ${host}`, {
      hint: "It takes placeholder credentials from everyone. Leave the host out.",
    });
  }
  const fake = new Fake(file);
  await fake.listen(port, host);
  return fake;
}

/** A running fake; created by startFake(). */
export class Fake implements AsyncDisposable {
  /** The newest last. */
  readonly requests: SeenRequest[] = [];
  readonly #file: ToolFile;
  readonly #failures = new Failures();
  readonly #responder: Responder;
  readonly #closing = new AbortController();
  readonly #server: Server;
  #host = "";
  #guard: OriginGuard | undefined;

  constructor(file: ToolFile) {
    this.#file = file;
    this.#responder = new Responder(file, this.#failures);
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // Closing an idle connection while the next request arrives would look like an unintended failure.
    this.#server.keepAliveTimeout = 0;
  }

  /** The address that replaces `upstream.base`. */
  get url(): string {
    return `http://${asHost(this.#host)}:${this.port}${new URL(this.#file.upstream.base).pathname}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** The credentials that it accepts, by their names in the file. */
  get secrets(): Record<string, string> {
    return placeholderSecrets(this.#file);
  }

  /** Makes the next `times` requests fail; with `tool`, only requests of that tool. */
  fail(failure: FakeFailure, times = 1, tool?: string): void {
    this.#failures.add(failure, times, tool);
  }

  /** Removes all failures. */
  recover(): void {
    this.#failures.clear();
  }

  /** Resets the fake to its initial state. */
  reset(): void {
    this.recover();
    this.#responder.forget();
    this.requests.length = 0;
  }

  async listen(port: number, host: string): Promise<void> {
    this.#host = host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, port)));
      this.#server.listen(port, host, resolve);
    });
    this.#guard = new OriginGuard({ address: host, port: this.port });
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
      const { method = "", headers } = request;
      const foreign = this.#guard?.problemOf(request);
      if (foreign) return refuse(request, response, foreign);
      const body = await bodyOf(request);
      const {
        href: url,
        pathname,
        searchParams: query,
      } = new URL(request.url ?? "/", `http://${headers.host ?? "fake"}`);
      if (pathname === CONTROL) {
        const order = { method, type: headers["content-type"], body };
        return send(response, controlled(order, { requests: this.requests, failures: this.#failures }));
      }
      const { seen, reply, failure } = this.#responder.respond(method, pathname, { url, query, headers, body });
      this.requests.push(seen);
      if (this.requests.length > MAX_REQUESTS) this.requests.shift();
      if (failure && "delayMs" in failure) await pause(failure.delayMs, undefined, { signal: this.#closing.signal });
      send(response, reply, { cut: failure !== undefined && "cut" in failure });
    } catch {
      // The request cannot be read, or the client is gone.
      response.destroy();
    }
  }
}

function cannotListen(cause: NodeJS.ErrnoException, port: number): NexusError {
  const why = cause.code === "EADDRINUSE" ? "another program listens there" : cause.message;
  return new NexusError("CONFIG_INVALID", `The fake cannot listen on port ${port}: ${why}`, {
    phase: "start",
    hint: "Take another port, or 0 for any that is free.",
    cause,
    mayHaveReached: false,
  });
}

/** The path for inspecting a fake and for making it fail. */
const CONTROL = "/__fake";

const USAGE = `{"fail": {"status": 503} | {"delayMs": 2000} | {"cut": true} | {"broken": true} | {"offSchema": true} | null, "times": 1, "tool": "…"}`;

/** `GET`: the received requests. `POST {"fail": …, "times": 1}`: how the next ones fail; null for no failure. */
function controlled(
  { method, type, body }: { method: string; type: string | undefined; body: Uint8Array },
  { requests, failures }: { requests: readonly SeenRequest[]; failures: Failures },
): FakeReply {
  if (method === "GET") return json(200, { requests });
  // A page in a browser cannot send this type to another origin without permission.
  if (method !== "POST" || type !== "application/json") {
    return json(405, { error: "GET, or POST with Content-Type: application/json" });
  }
  const { fail, times = 1, tool } = orderIn(body);
  if (fail === null) {
    failures.clear();
    return json(200, { failing: null });
  }
  const failure = failureIn(fail);
  if (!failure || typeof times !== "number" || !(times >= 1)) return json(400, { error: `write ${USAGE}` });
  failures.add(failure, times, typeof tool === "string" ? tool : undefined);
  return json(200, { failing: failure, times });
}

function json(status: number, value: unknown): FakeReply {
  return { status, type: "application/json", body: JSON.stringify(value) };
}

function orderIn(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The body of a request; the connection ends if it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY) throw new RangeError("the body is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** `cut`: the connection ends in the middle of the body. */
function send(response: ServerResponse, { status, type, body, headers }: FakeReply, { cut = false } = {}): void {
  const bytes = Buffer.from(body as string);
  // Something must also be missing in an empty body.
  const length = cut ? Math.max(bytes.length, 2) : bytes.length;
  response.writeHead(status, {
    ...headers,
    ...(length === 0 ? {} : { "content-type": type, "content-length": length }),
  });
  if (!cut) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

/** Refuses pages of other sites, which could read and change the fake. The rest of the request is not read. */
function refuse(request: IncomingMessage, response: ServerResponse, { reason, value }: ForeignRequest): void {
  const body = `The fake serves programs of this machine only, not this request (${reason}: ${JSON.stringify(value)}).\n`;
  response.shouldKeepAlive = false;
  request.resume();
  send(response, { status: 403, type: "text/plain; charset=utf-8", body });
}

/** A failure in JSON: `{"status": 503}`, `{"cut": true}`; undefined for anything else. */
function failureIn(value: unknown): FakeFailure | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { status, delayMs, cut, broken, offSchema } = value as Record<string, unknown>;
  if (typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599) return { status };
  if (typeof delayMs === "number" && delayMs >= 0 && delayMs <= 3_600_000) return { delayMs };
  if (cut === true) return { cut };
  if (broken === true) return { broken };
  return offSchema === true ? { offSchema } : undefined;
}
