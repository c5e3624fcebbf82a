import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { CancelSignal } from "../async/cancellation.ts";
import { HiddenValues } from "../masking/hidden-values.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { Network } from "../net/network.ts";
import type { Message } from "../protocol/json-rpc.ts";
import type { AuthorizedRequest, CredentialHeaders, CredentialSource, Refusal } from "./credential-source.ts";
import { HttpTransport } from "./http.ts";
import { sha256 } from "../text/digest.ts";
import type { HttpOptions } from "./http-sender.ts";
import { SseTransport } from "./sse.ts";
import type { Connection, Receiver, Sending, StreamEnd } from "./transport.ts";

interface Seen {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  body: string;
}

/** Accepts requests with this token; refuses others with 401. */
async function openProtected(accepted: string, answer?: (req: IncomingMessage, res: ServerResponse) => boolean) {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      let body = "";
      for await (const chunk of req) body += String(chunk);
      const { authorization } = req.headers;
      seen.push({ method: req.method, path: req.url, authorization, body });
      if (answer?.(req, res)) return;
      if (authorization !== `Bearer ${accepted}`) {
        res.writeHead(401, { "www-authenticate": `Bearer scope="read"` }).end("no");
      } else if (req.method === "GET") {
        res.writeHead(200, { "content-type": "text/event-stream" }).end(`data: {"jsonrpc":"2.0","method":"hello"}\n\n`);
      } else if (req.method === "DELETE") res.writeHead(204).end();
      else res.writeHead(200, { "content-type": "application/json" }).end(resultFor(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function resultFor(body: string): string {
  const { id } = JSON.parse(body) as { id: number };
  return JSON.stringify({ jsonrpc: "2.0", id, result: {} });
}

/** Sends a token; after a refusal it has the next one. */
class ScriptedCredentials implements CredentialSource {
  readonly name = "alice";
  readonly refusals: Refusal[] = [];
  readonly asked: AuthorizedRequest[] = [];
  readonly #tokens: string[];
  #headers: CredentialHeaders;
  /** Instead of what is known. */
  findHeaders: CredentialSource["findHeaders"] = (request) => {
    this.asked.push(request);
    return this.#headers;
  };
  onRenew: (signal?: CancelSignal) => Promise<boolean> = () => {
    const next = this.#tokens.shift();
    if (next === undefined) return Promise.resolve(false);
    this.#headers = { authorization: `Bearer ${next}` };
    return Promise.resolve(true);
  };

  constructor(first: string, ...tokens: string[]) {
    this.#headers = { authorization: `Bearer ${first}` };
    this.#tokens = tokens;
  }

  getHeaders: CredentialSource["getHeaders"] = () => Promise.resolve(this.#headers);

  renew(refusal: Refusal, signal?: CancelSignal): Promise<boolean> {
    this.refusals.push(refusal);
    return refusal.sent === this.#headers ? this.onRenew(signal) : Promise.resolve(true);
  }
}

const IGNORE: Receiver = { message: () => {}, discarded: () => {} };

function optionsFor(url: string, credentials: CredentialSource, more: Partial<HttpOptions> = {}) {
  return {
    url,
    credentials,
    headers: {},
    network: new Network(),
    principalOf: sha256,
    maxMessageBytes: 1_000_000,
    ...more,
  };
}

async function openHttp(url: string, credentials: CredentialSource, more: Partial<HttpOptions> = {}) {
  const options = optionsFor(url, credentials, more);
  const received: Message[] = [];
  const receiver: Receiver = { ...IGNORE, message: (message) => void received.push(message) };
  const connection = await new HttpTransport(options).connect(receiver);
  return { connection, received, [Symbol.asyncDispose]: () => options.network.close() };
}

function ask(connection: Connection, id = 1): { sending: Sending; end: Promise<StreamEnd> } {
  let sending: Sending | undefined;
  const end = new Promise<StreamEnd>((resolve) => {
    sending = connection.send({ jsonrpc: "2.0", id, method: "ping" }, { headers: { "x-own": "1" }, onEnd: resolve });
  });
  return { sending: sending as unknown as Sending, end };
}

test("a refused request is sent again with the renewed credential and the same body", async () => {
  await using server = await openProtected("new");
  const credentials = new ScriptedCredentials("old", "new");
  await using http = await openHttp(`${server.url}?key=1`, credentials);

  expect(await ask(http.connection).end).toEqual({ kind: "ended" });
  expect(http.received).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  expect(server.seen.map(({ authorization }) => authorization)).toEqual(["Bearer old", "Bearer new"]);
  expect(server.seen[1]?.body).toBe(server.seen[0]?.body);
  expect(credentials.refusals).toMatchObject([
    {
      request: { method: "POST", url: server.url },
      status: 401,
      headers: { "www-authenticate": `Bearer scope="read"` },
      sent: { authorization: "Bearer old" },
      attempts: 1,
    },
  ]);
});

test("eight requests that are refused at once are each sent once more, with one renewal", async () => {
  await using server = await openProtected("new");
  const credentials = new ScriptedCredentials("old", "new");
  let renewals = 0;
  const { onRenew } = credentials;
  credentials.onRenew = () => {
    renewals++;
    return onRenew();
  };
  await using http = await openHttp(server.url, credentials);

  const ends = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((id) => ask(http.connection, id).end));
  expect(ends.every(({ kind }) => kind === "ended")).toBe(true);
  expect(http.received).toHaveLength(8);
  expect(server.seen).toHaveLength(16);
  expect(credentials.refusals).toHaveLength(8);
  expect(renewals).toBe(1);
});

test("a source that knows nothing better leaves the refusal as it is, and an error of it fails the request", async () => {
  await using server = await openProtected("never");
  const credentials = new ScriptedCredentials("old");
  await using http = await openHttp(server.url, credentials);
  expect(await ask(http.connection).end).toMatchObject({ kind: "refused", status: 401, body: "no" });
  expect(server.seen).toHaveLength(1);

  const error = new NexusError("AUTH_REQUIRED", "Log in first");
  credentials.onRenew = () => Promise.reject(error);
  expect(await ask(http.connection).end).toEqual({ kind: "failed", error });
  expect(server.seen).toHaveLength(2);
});

test("a source that always wants another attempt cannot make a request go on without end", async () => {
  await using server = await openProtected("never");
  const credentials = new ScriptedCredentials("a", "b", "c", "d", "e", "f", "g", "h");
  await using http = await openHttp(server.url, credentials);
  expect(await ask(http.connection).end).toMatchObject({ kind: "refused", status: 401 });
  expect(credentials.refusals.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4]);
  expect(server.seen).toHaveLength(5);
});

test("a request waits for its credential, and is not sent if it was abandoned meanwhile", async () => {
  await using server = await openProtected("token");
  const credentials = new ScriptedCredentials("unused");
  credentials.findHeaders = () => undefined;
  const waiting: { resolve: (headers: CredentialHeaders) => void; signal: CancelSignal | undefined }[] = [];
  credentials.getHeaders = (_request, signal) => new Promise((resolve) => waiting.push({ resolve, signal }));
  await using http = await openHttp(server.url, credentials);

  const [abandoned, sent] = [ask(http.connection, 1), ask(http.connection, 2)];
  expect([abandoned.sending.started, sent.sending.started]).toEqual([false, false]);
  abandoned.sending.abandon();
  expect(waiting.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  for (const { resolve } of waiting) resolve({ authorization: "Bearer token" });
  expect(await sent.end).toEqual({ kind: "ended" });
  expect(server.seen.map(({ body }) => body)).toEqual([expect.stringContaining(`"id":2`)]);

  credentials.getHeaders = () => Promise.reject(new NexusError("AUTH_REQUIRED", "Log in first"));
  expect(await ask(http.connection, 3).end).toMatchObject({ kind: "failed", error: { code: "AUTH_REQUIRED" } });
  expect(server.seen).toHaveLength(1);
});

test("a request that is abandoned while its credential is renewed is not sent again", async () => {
  await using server = await openProtected("new");
  const credentials = new ScriptedCredentials("old");
  let onAsked: (asked: { signal: CancelSignal | undefined; finish: (again: boolean) => void }) => void = () => {};
  const renewing = new Promise<Parameters<typeof onAsked>[0]>((resolve) => (onAsked = resolve));
  credentials.onRenew = (signal) => new Promise((finish) => onAsked({ signal, finish }));
  await using http = await openHttp(server.url, credentials);

  let ended = 0;
  const { sending, end } = ask(http.connection);
  void end.then(() => ended++);
  const { signal, finish } = await renewing;
  sending.abandon();
  expect(signal?.aborted).toBe(true);
  finish(true);
  credentials.findHeaders = () => ({ authorization: "Bearer new" });
  expect(await ask(http.connection, 2).end).toEqual({ kind: "ended" });
  expect(server.seen).toHaveLength(2);
  expect(ended).toBe(0);
});

test("streams and the end of a session are authorized as well", async () => {
  await using server = await openProtected("new");
  const credentials = new ScriptedCredentials("old", "new");
  await using http = await openHttp(server.url, credentials);
  const channel = http.connection.http;
  const end = await new Promise((resolve) => channel?.listen({ onEnd: resolve }));
  expect(end).toEqual({ kind: "ended" });
  expect(http.received).toEqual([{ jsonrpc: "2.0", method: "hello" }]);

  await using other = await openHttp(server.url, new ScriptedCredentials("old", "new"));
  await other.connection.http?.endSession({ "mcp-session-id": "1" });
  const shown = server.seen.map(({ method, authorization }) => `${method} ${authorization}`);
  expect(shown).toEqual(["GET Bearer old", "GET Bearer new", "DELETE Bearer old", "DELETE Bearer new"]);
});

test("HTTP+SSE renews the credential of its stream and of its messages", async () => {
  let accepted = "Bearer second";
  await using server = await openProtected("unused", (req, res) => {
    if (req.headers.authorization !== accepted) return false;
    if (req.method === "POST") res.writeHead(202).end();
    else res.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /post?id=1\n\n");
    return true;
  });
  const credentials = new ScriptedCredentials("first", "second", "third");
  const options = optionsFor(server.url, credentials);
  const connection = await new SseTransport(options).connect(IGNORE);
  accepted = "Bearer third";
  const end = await new Promise((resolve) => {
    connection.send({ jsonrpc: "2.0", method: "notifications/x" }, { onEnd: resolve });
  });
  expect(end).toEqual({ kind: "ended" });
  expect(credentials.refusals.map(({ request }) => request)).toEqual([
    { method: "GET", url: server.url },
    { method: "POST", url: `${server.origin}/post` },
  ]);
  await connection.close();
  await options.network.close();
});

test("credentials follow a redirect within the origin and never leave it (R8)", async () => {
  await using other = await openProtected("token");
  await using server = await openProtected("token", (req, res) => {
    const target = { "/mcp": "/moved", "/away": `${other.origin}/mcp` }[req.url ?? ""];
    if (target !== undefined) res.writeHead(308, { location: target }).end();
    return target !== undefined;
  });
  const credentials = new ScriptedCredentials("token");
  await using http = await openHttp(server.url, credentials);
  expect(await ask(http.connection).end).toEqual({ kind: "ended" });
  expect(credentials.asked.map(({ url }) => url)).toEqual([server.url, `${server.origin}/moved`]);

  await using away = await openHttp(`${server.origin}/away`, credentials);
  expect(await ask(away.connection).end).toMatchObject({ kind: "failed", error: { code: "REDIRECT_REFUSED" } });
  expect(other.seen).toEqual([]);
});

test("the identity is the name of the credential, not its token", async () => {
  await using server = await openProtected("new");
  const credentials = new ScriptedCredentials("old", "new");
  const identity = () => new HttpTransport(optionsFor(server.url, credentials)).identity;
  const before = identity();
  await using http = await openHttp(server.url, credentials);
  await ask(http.connection).end;
  expect(identity()).toEqual(before);

  const withName = (name: string) =>
    new HttpTransport(optionsFor(server.url, Object.assign(new ScriptedCredentials("old"), { name }))).identity;
  expect(withName("bob").principal).not.toBe(before.principal);
  expect(withName("alice")).toEqual(before);
});

test("an Authorization header of the entry is used instead of the source", async () => {
  await using server = await openProtected("fixed");
  const credentials = new ScriptedCredentials("token");
  await using http = await openHttp(server.url, credentials, { headers: { Authorization: "Bearer fixed" } });
  expect(await ask(http.connection).end).toEqual({ kind: "ended" });
  expect(credentials.asked).toEqual([]);
});

test("every token that was sent is masked from then on", async () => {
  await using server = await openProtected("a-newer-token");
  const hidden = new HiddenValues([]);
  await using http = await openHttp(server.url, new ScriptedCredentials("an-old-token", "a-newer-token"), { hidden });
  await ask(http.connection).end;
  expect(hidden.in("rejected a-newer-token, had an-old-token")).toBe("rejected •••, had •••");
});
