import { createServer, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { expect, test } from "vitest";
import { FaultProxy } from "./fault-proxy.ts";
import type { Fault } from "./fault.ts";

const HERE = { connection: 0, direction: "down" } as const;

async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

/** What comes back through the proxy from a server that says `text` and hangs up, and how it ended. */
async function receive(text: string, faults: Fault[]): Promise<{ text: string; end: "end" | "reset" }> {
  await using server = await listen(createTcpServer((socket) => void socket.on("error", () => {}).end(text)));
  await using proxy = await FaultProxy.start(server.port, faults);
  const chunks: Buffer[] = [];
  const socket = connect(proxy.port, "127.0.0.1").on("data", (chunk) => chunks.push(chunk));
  const end = await new Promise<"end" | "reset">((resolve) => {
    socket.on("end", () => resolve("end"));
    socket.on("error", () => resolve("reset"));
  });
  socket.destroy();
  await proxy.clientsGone();
  expect(proxy.openConnections).toBe(0);
  return { text: Buffer.concat(chunks).toString("utf8"), end };
}

test.each<[string, Fault[], string]>([
  ["nothing", [], "abcdef"],
  ["delay", [{ kind: "delay", ...HERE, atByte: 2, ms: 5 }], "abcdef"],
  ["a stall that passes", [{ kind: "stall", ...HERE, atByte: 2, ms: 5 }], "abcdef"],
  ["split", [{ kind: "split", ...HERE, atByte: 1, length: 4, size: 1 }], "abcdef"],
  ["half-close", [{ kind: "half-close", ...HERE, atByte: 2 }], "ab"],
  ["duplicate-bytes", [{ kind: "duplicate-bytes", ...HERE, atByte: 3, length: 2 }], "abcbcdef"],
  ["reorder-bytes", [{ kind: "reorder-bytes", ...HERE, atByte: 1, length: 2 }], "adebcf"],
  ["a fault of another connection", [{ kind: "cut", ...HERE, connection: 1, atByte: 0 }], "abcdef"],
  ["a fault beyond the end", [{ kind: "cut", ...HERE, atByte: 7 }], "abcdef"],
])("the proxy does what it is told: %s", async (_name, faults, text) => {
  expect(await receive("abcdef", faults)).toEqual({ text, end: "end" });
});

test("a cut is a reset", async () => {
  expect(await receive("abcdef", [{ kind: "cut", ...HERE, atByte: 0 }])).toEqual({ text: "", end: "reset" });
});

test("what was held back for ever goes on when all is well again", async () => {
  await using server = await listen(createTcpServer((socket) => void socket.on("error", () => {}).end("abcdef")));
  await using proxy = await FaultProxy.start(server.port, [{ kind: "stall", ...HERE, atByte: 3, ms: "for ever" }]);
  const socket = connect(proxy.port, "127.0.0.1");
  let text = "";
  const ended = new Promise((resolve) => {
    socket.on("end", resolve).on("data", (chunk) => {
      text += chunk.toString();
      if (text === "abc") proxy.heal();
    });
  });
  await ended;
  expect(text).toBe("abcdef");
  expect(proxy.struck).toHaveLength(1);
  socket.destroy();
});

test.each<[Fault["kind"], Fault, string[]]>([
  ["duplicate-event", { kind: "duplicate-event", connection: 0, nth: 1 }, ["one", "two", "two", "three"]],
  ["reorder-events", { kind: "reorder-events", connection: 0, nth: 0 }, ["two", "one", "three"]],
  ["reorder-events", { kind: "reorder-events", connection: 0, nth: 2 }, ["one", "two", "three"]],
])("events are moved whole, and the answer stays valid HTTP: %s", async (_kind, fault, events) => {
  const answer = (response: ServerResponse) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const event of ["one", "two", "three"]) response.write(`data: ${event}\n\n`);
    response.end();
  };
  await using server = await listen(createServer((_request, response) => answer(response)));
  await using proxy = await FaultProxy.start(server.port, [fault]);
  const response = await fetch(`http://127.0.0.1:${proxy.port}/`, { headers: { Connection: "close" } });
  expect(await response.text()).toBe(events.map((event) => `data: ${event}\n\n`).join(""));
  expect(proxy.struck).toEqual([fault]);
});
