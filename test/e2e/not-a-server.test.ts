import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-not-a-server-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

function program(text: string, env: Record<string, string> = {}) {
  return { id: "notes", command: process.execPath, args: ["-e", text], env };
}

/** Waits without turning the event loop, as a busy program does. */
function block({ atLeastMs, atMostMs, until }: { atLeastMs: number; atMostMs: number; until: () => boolean }): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const startedAt = performance.now();
  const passedMs = () => performance.now() - startedAt;
  while (passedMs() < atLeastMs || (passedMs() < atMostMs && !until())) Atomics.wait(cell, 0, 0, 20);
}

describe("a program that is not an MCP server", () => {
  test("that prints text and ends is not started again, and its text is in the message", async () => {
    const starts = join(folder, "starts");
    const text = `require("fs").appendFileSync(${JSON.stringify(starts)}, "x"); console.log("usage:\\tnotes\\u0007")`;
    const error = await failure(connect(program(text)));
    expect(error).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 0 } });
    expect(error.message).toBe(
      String.raw`The server exited with code 0. The server printed text that is not JSON-RPC: "usage:${"\t"}notes\x07"`,
    );
    expect(await readFile(starts, "utf8")).toBe("x");
  });

  test("that prints text is logged at once", async () => {
    const stop = new AbortController();
    const logged: string[] = [];
    const warn = (text: string) => {
      logged.push(text);
      stop.abort();
    };
    const logger = { debug() {}, info() {}, warn, error() {} };
    const text = `console.log("Welcome to notes"); process.stdin.resume()`;
    expect(await failure(connect(program(text), { signal: stop.signal, logger }))).toMatchObject({ code: "CANCELLED" });
    expect(logged).toEqual([`server "notes" printed text that is not JSON-RPC: Welcome to notes`]);
  });

  test("that sends back what it receives is recognised at once", async () => {
    const error = await failure(connect({ id: "cat", command: "cat" }));
    expect(error).toMatchObject({ code: "NOT_MCP", message: expect.stringContaining("sends back") as string });
  });
});

test("a server that exits at the probe is started again, also if it prints a banner", async () => {
  const text = `
    console.log("Notes 1.0");
    require("readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "server/discover") process.exit(1);
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "notes", version: "1" } };
      if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;
  await using client = await connect(program(text));
  expect(client.serverInfo).toMatchObject({ name: "notes" });
});

describe("the last output of a server", () => {
  test("is in the error, also if this program was too busy to read it in time", async () => {
    const written = join(folder, "written");
    // A child of the server that keeps stderr open and writes after the server has exited.
    const child = `sleep 0.1; echo "the reason" >&2; : > '${written}'`;
    const entry = { id: "notes", command: "sh", args: ["-c", `trap "" TERM; (${child}) & exit 3`] };
    const onSpawn = ({ exited }: { exited: Promise<unknown> }) => {
      void exited.then(() => block({ atLeastMs: 800, atMostMs: 10_000, until: () => existsSync(written) }));
    };
    const error = await failure(connect(entry, { era: "legacy", onSpawn }));
    expect(error).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 3, stderr: ["the reason"] } });
  });

  test("is in the error, also if the server closes stdout some time before it exits", async () => {
    const text = `require("fs").closeSync(1); setTimeout(() => { console.error("the reason"); process.exit(3) }, 300)`;
    const error = await failure(connect(program(text), { era: "legacy" }));
    expect(error).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 3, stderr: ["the reason"] } });
  });

  test("is in the error, also if only the first of two starts wrote it", async () => {
    const once = join(folder, "once");
    const text = `
      const fs = require("fs");
      if (fs.existsSync(${JSON.stringify(once)})) process.exit(4);
      fs.writeFileSync(${JSON.stringify(once)}, "");
      console.error("the reason");
      process.exit(3);`;
    const error = await failure(connect(program(text)));
    expect(error).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 4, stderr: ["the reason"] } });
  });

  test("is in the error of a call, not that its time is over, if this program was too busy to see the exit (P1.9)", async () => {
    const exiting = join(folder, "exiting");
    const text = `
      require("readline").createInterface(process.stdin).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "n", version: "1" } };
        if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        if (method !== "tools/call") return;
        console.error("the reason");
        require("fs").writeFileSync(${JSON.stringify(exiting)}, "");
        process.exit(3);
      });`;
    await using client = await connect(program(text), { era: "legacy" });
    const call = failure(client.callTool("any", {}, { timeoutMs: 300 }));
    // The request is written in this turn.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    block({ atLeastMs: 800, atMostMs: 20_000, until: () => existsSync(exiting) });
    expect(await call).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 3, stderr: ["the reason"] } });
  });

  test("is in the error, not that the time is over, if the second of two starts does not fail in time (P1.9)", async () => {
    const once = join(folder, "started");
    const script = `[ -e '${once}' ] && exec sleep 600; : > '${once}'; echo "the reason" >&2; exit 3`;
    const error = await failure(
      connect({ id: "notes", command: "sh", args: ["-c", script] }, { connectTimeoutMs: 4000 }),
    );
    expect(error).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 3, stderr: ["the reason"] } });
  });
});

test("what the log says of a question that nobody answers names the question and the server (P1.9)", async () => {
  const text = `
    require("readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "n", version: "1" } };
      if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "notifications/initialized") console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "roots/list" }));
    });`;
  const logged: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (said: string) => void logged.push(said) };
  await using _client = await connect(program(text), { era: "legacy", logger });
  await expect.poll(() => logged).toEqual([expect.stringMatching(/^roots\/list of "notes" was not answered: /)]);
});
