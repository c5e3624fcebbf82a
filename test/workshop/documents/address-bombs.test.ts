import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { loadDocument } from "../../../src/workshop/documents/load/load-document.ts";

const MEGABYTE = 1024 * 1024;

/** What loading from a server on this machine fails with, and how much the server could send. */
async function refusal(listener: RequestListener, timeoutMs = 60_000) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
    const error: unknown = await loadDocument(address, { allow: ["127.0.0.1"], timeoutMs }).catch((thrown) => thrown);
    return error as { code: string; message: string; hint?: string };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("X5: a gzip bomb at an address is refused and not unpacked, whatever its headers say", async () => {
  const bomb = gzipSync(Buffer.alloc(256 * MEGABYTE, " "));
  const before = process.memoryUsage().rss;
  const error = await refusal((request, response) => {
    expect(request.headers["accept-encoding"]).toBe("identity");
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
  });
  expect(error.code).toBe("PROTOCOL_VIOLATION");
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * MEGABYTE);
});

test("X5: an endless answer at an address is refused at the limit of a document", async () => {
  const part = Buffer.alloc(MEGABYTE, " ");
  let sent = 0;
  const error = await refusal((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(part)) sent++;
    };
    response.on("drain", more);
    more();
  });
  expect(error.message).toContain("sent an answer of more than 33554432 bytes");
  expect(sent).toBeLessThan(200);
});

test("X5: a declared length above the limit is refused before the body comes", async () => {
  const error = await refusal((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": String(1024 * MEGABYTE) });
    response.write(" ");
  });
  expect(error.message).toContain("sent an answer of more than 33554432 bytes");
});

test("X5: an answer that never ends, byte by byte, is refused after the time limit", async () => {
  const error = await refusal((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 10);
    response.on("close", () => clearInterval(timer));
  }, 300);
  expect(error.code).toBe("TIMEOUT");
});
