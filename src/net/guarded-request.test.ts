import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { selfSigned } from "../../test/fixtures/self-signed.ts";
import { AddressGuard } from "./address-guard.ts";
import { guardedRequest, type GuardedRequest } from "./guarded-request.ts";
import { Network } from "./network.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

async function serving(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function network(allow: readonly string[] = ["127.0.0.1", "localhost"], ca: readonly string[] = []): Network {
  const opened = new Network({ guard: new AddressGuard({ allow }), ca });
  open.push(() => opened.close());
  return opened;
}

/** Sends one to a server that answers like this; `password` stands in the query. */
async function send(answer: RequestListener, more: Partial<GuardedRequest> = {}) {
  const base = `http://${await serving(createServer(answer))}/api/`;
  return guardedRequest(network(), {
    method: "POST",
    url: `${base}rooms?password=secret-word`,
    allow: [base],
    headers: {},
    timeoutMs: 5_000,
    maxBytes: 1_000,
    ...more,
  });
}

async function failure(promise: Promise<unknown>) {
  const error = await promise.then(
    () => new Error("It worked, though it should not"),
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("secret-word");
  return error;
}

describe("an answer", () => {
  test("comes with status, headers and bytes, for every method and body", async () => {
    const seen: unknown[] = [];
    const answer: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen.push([request.method, request.url, request.headers["x-a"], Buffer.concat(chunks).toString()]);
        response.writeHead(418, { "x-b": ["1", "2"] }).write("é");
        response.end("!");
      });
    };
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
      const body = method === "GET" ? undefined : method === "PUT" ? Buffer.from("é") : "é";
      const { status, headers, body: received } = await send(answer, { method, headers: { "x-a": "b" }, body });
      expect([status, headers["x-b"], Buffer.from(received).toString()]).toEqual([418, ["1", "2"], "é!"]);
      expect(seen.pop()).toEqual([method, "/api/rooms?password=secret-word", "b", body === undefined ? "" : "é"]);
    }
  });

  test("without a body is an empty one", async () => {
    expect((await send((_, response) => response.writeHead(204).end())).body).toHaveLength(0);
  });

  test("leaves its connection for the next request", async () => {
    const sockets = new Set<Socket>();
    const base = `http://${await serving(
      createServer((request, response) => {
        sockets.add(request.socket);
        response.end("ok");
      }),
    )}/`;
    const shared = network();
    const request = { method: "GET", url: base, allow: [base], headers: {}, timeoutMs: 5_000, maxBytes: 10 } as const;
    for (let count = 0; count < 5; count++) await guardedRequest(shared, request);
    // The pool opens a second where a request follows before the first connection is marked free.
    const used = sockets.size;
    expect(used).toBeLessThanOrEqual(2);
    await guardedRequest(shared, { ...request, credential: "another" });
    expect(sockets.size).toBe(used + 1);
  });
});

describe("a failure says whether the request may have been carried out, and not what it contained (X8, X9)", () => {
  test.each([301, 302, 303, 307, 308])("a redirect is not followed: %s", async (status) => {
    let requests = 0;
    const answer: RequestListener = (_, response) => {
      requests++;
      response.writeHead(status, { location: "https://evil.example/?password=secret-word" }).end("x");
    };
    const error = await failure(send(answer));
    expect(error).toMatchObject({ code: "REDIRECT_REFUSED", details: { status, mayHaveReached: true } });
    expect(error).toMatchObject({ message: expect.stringMatching(/redirects to https:\/\/evil\.example$/) });
    expect(requests).toBe(1);
  });

  test("more bytes than allowed, announced or not", async () => {
    const announced = await failure(send((_, response) => response.end("x".repeat(1_001))));
    const streamed = await failure(
      send((_, response) => {
        const more = () => void (response.destroyed || response.write("x".repeat(600), more));
        more();
      }),
    );
    for (const error of [announced, streamed]) {
      expect(error).toMatchObject({ code: "MESSAGE_TOO_LARGE", details: { status: 200, mayHaveReached: true } });
    }
    expect((await send((_, response) => response.end("x".repeat(1_000)))).body).toHaveLength(1_000);
  });

  test("a compressed answer, which could be of any size", async () => {
    const error = await failure(
      send((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("x")),
    );
    expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION", details: { mayHaveReached: true } });
  });

  test("no answer in time, before the head or in the body", async () => {
    const answers: readonly RequestListener[] = [() => {}, (_, response) => response.write("x")];
    for (const answer of answers) {
      // On a busy machine the time may be over before the request is sent.
      let isSent = false;
      for (let timeoutMs = 50; !isSent; timeoutMs *= 4) {
        const error = await failure(
          send(
            (request, response) => {
              isSent = true;
              answer(request, response);
            },
            { timeoutMs },
          ),
        );
        expect(error).toMatchObject({ code: "TIMEOUT" });
        if (isSent) expect(error).toMatchObject({ details: { mayHaveReached: true } });
      }
    }
  });

  test("a connection that breaks, before the head or in the body", async () => {
    const before = await failure(send((request) => request.socket.destroy()));
    const within = await failure(
      send((request, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("x", () => request.socket.destroy());
      }),
    );
    for (const error of [before, within]) {
      expect(error).toMatchObject({ code: "CONNECTION_LOST", details: { mayHaveReached: true } });
    }
  });

  test("a refused connection: the request was certainly not sent", async () => {
    const server = createServer();
    const host = await serving(server);
    await open.pop()?.();
    const request = {
      method: "POST",
      url: `http://${host}/?password=secret-word`,
      allow: [`http://${host}/`],
    } as const;
    const error = await failure(guardedRequest(network(), { ...request, headers: {}, timeoutMs: 5_000, maxBytes: 1 }));
    expect(error).toMatchObject({ code: "CONNECTION_FAILED", details: { mayHaveReached: false } });
  });

  test("a request that is cancelled before or while it is sent", async () => {
    const never = await failure(send((_, response) => response.end(), { signal: AbortSignal.abort() }));
    expect(never).toMatchObject({ code: "CANCELLED", details: { mayHaveReached: false } });
    const controller = new AbortController();
    const meanwhile = await failure(send(() => controller.abort(), { signal: controller.signal }));
    expect(meanwhile).toMatchObject({ code: "CANCELLED", details: { mayHaveReached: true } });
  });

  test("an invalid header, or one that decides where a request goes or ends", async () => {
    let requests = 0;
    const answer: RequestListener = (_, response) => {
      requests++;
      response.end();
    };
    for (const headers of [{ Host: "evil" }, { "Transfer-Encoding": "chunked" }, { a: "b\r\nc: d" }, { "a b": "c" }]) {
      const error = await failure(send(answer, { headers: headers as unknown as Record<string, string> }));
      expect(error).toMatchObject({ code: "ARGUMENTS_INVALID", details: { mayHaveReached: false } });
    }
    expect(requests).toBe(0);
  });
});

describe("internal addresses are refused (R8)", () => {
  test("a literal address, and a name that resolves to one, unless the host is allowed", async () => {
    const server = createServer((_, response) => response.end("inside"));
    const { port } = new URL(`http://${await serving(server)}`);
    const get = (host: string, inside: readonly string[]) =>
      guardedRequest(network(inside), {
        method: "GET",
        url: `http://${host}:${port}/?password=secret-word`,
        allow: [`http://${host}:${port}/`],
        headers: {},
        timeoutMs: 5_000,
        maxBytes: 100,
      });
    for (const host of ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"]) {
      expect(await failure(get(host, []))).toMatchObject({
        code: "ADDRESS_REFUSED",
        details: { mayHaveReached: false },
      });
    }
    expect((await get("127.0.0.1", ["127.0.0.1"])).status).toBe(200);
  });

  test("without a guard nothing is sent", async () => {
    await using plain = new Network();
    const request = { method: "GET", url: "http://127.0.0.1:1/", allow: ["http://127.0.0.1:1/"] } as const;
    await expect(guardedRequest(plain, { ...request, headers: {}, timeoutMs: 1, maxBytes: 1 })).rejects.toMatchObject({
      code: "INTERNAL",
    });
  });
});

test("certificates are checked; an authority can be trusted in addition", async ({ skip }) => {
  const pair = await selfSigned();
  if (!pair) return skip();
  const host = await serving(createTlsServer(pair, (_, response) => response.end("ok")));
  const base = `https://localhost:${new URL(`https://${host}`).port}/`;
  const request = { method: "GET", url: base, allow: [base], headers: {}, timeoutMs: 5_000, maxBytes: 10 } as const;
  expect(await failure(guardedRequest(network(), request))).toMatchObject({
    code: "CONNECTION_FAILED",
    details: { mayHaveReached: false },
  });
  expect((await guardedRequest(network(undefined, [pair.cert]), request)).status).toBe(200);
});
