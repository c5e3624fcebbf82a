import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { wordy } from "../faults/faults-servers.ts";
import { FaultWorld, WeighedGateway } from "../faults/faults-world.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

/** Every list of tools takes so many bytes: 2,000 of them are longer than any text that JavaScript can hold. */
const LIST_BYTES = 300_000;
const BATCH_BYTES = 4 * LIST_BYTES;

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));

let gateway: WeighedGateway;
let url: string;

beforeAll(async () => {
  gateway = await WeighedGateway.open({ wordy: wordy(LIST_BYTES) }, { batchBytes: BATCH_BYTES });
  url = gateway.server("wordy");
});

afterAll(() => gateway[Symbol.asyncDispose]());

const listings = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }));

async function answersTo(session: LegacyWire, batch: readonly object[]): Promise<WireMessage[]> {
  const response = await session.post([...batch]);
  const text = await response.text();
  const json = text.startsWith("[") ? text : (/^data: (\[.*)$/m.exec(text)?.[1] ?? "[]");
  return JSON.parse(json) as WireMessage[];
}

describe("A batch of 2025-03-26", () => {
  test("of 2,000 lists is refused with a clear error, and the gateway goes on", async () => {
    const session = await LegacyWire.open(gateway.url, "2025-03-26");
    const response = await session.post(listings(2000));
    expect([response.status, await response.json()]).toEqual([
      400,
      { jsonrpc: "2.0", error: { code: -32600, message: "A batch can have 100 messages; this one has 2000" } },
    ]);
    expect((await session.request("ping")).status).toBe(200);
  });

  test("whose answers are larger than the limit is answered with errors in place of those that do not fit", async () => {
    const session = await LegacyWire.open(url, "2025-03-26");
    const answers = await answersTo(session, listings(100));
    expect(answers.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual([...Array(100).keys()]);
    const whole = answers.filter(({ result }) => result !== undefined);
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length * LIST_BYTES).toBeLessThanOrEqual(BATCH_BYTES);
    const [failed] = answers.flatMap(({ error }) => error ?? []);
    expect(failed).toMatchObject({
      code: -32603,
      message: `The answers of this batch exceed the limit of ${BATCH_BYTES} bytes`,
    });
    expect((await session.request("ping")).status).toBe(200);
  });

  test("has the same bound on HTTP+SSE", async () => {
    const { origin } = new URL(url);
    const stream = await fetch(`${origin}/sse`, { headers: { accept: "text/event-stream" } });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    const until = async (pattern: RegExp) => {
      while (!pattern.test(heard)) heard += (await reader?.read())?.value ?? "";
      return pattern.exec(heard)?.[1] ?? "";
    };
    const box = `${origin}${await until(/data: (\/messages\S+)/)}`;
    const headers = { "content-type": "application/json" };
    const post = (message: unknown) => send(box, { headers, body: JSON.stringify(message) });
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    await post({ jsonrpc: "2.0", id: "i", method: "initialize", params });
    await until(/"id":"i"()/);
    expect((await post(listings(101))).json.error?.code).toBe(-32600);
    await reader?.cancel();
  });
});

describe("A gateway on a pipe", () => {
  /** Sends lines to a gateway process, ends its input, and returns what it wrote and its exit code. */
  async function serveLines(lines: readonly string[]): Promise<{ written: WireMessage[]; code: number | null }> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-pipe-"));
    const config = join(folder, "mcp.json");
    await writeFile(config, `{"mcpServers":{}}`);
    const child = spawn(process.execPath, [MAIN, "serve", "--stdio", "--config", config], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, "state") },
    });
    child.stdin.on("error", () => {});
    child.stdin.end(`${lines.join("\n")}\n`);
    const [written, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    return {
      written: written
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as WireMessage),
      code,
    };
  }

  const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const claiming = (id: number, version: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"_meta":{"${META.protocolVersion}":${version},"${META.clientCapabilities}":{}}}}`;

  test("refuses a line that is nested too deeply, and answers the next one", async () => {
    const { written, code } = await serveLines([claiming(1, nested), nested, claiming(2, `"2026-07-28"`)]);
    expect(code).toBe(0);
    const refusal = { error: { code: -32600, message: "The message is nested deeper than 128 levels" } };
    expect(written).toMatchObject([refusal, refusal, { id: 2, result: { tools: [] } }]);
  });

  test("refuses a batch of 2,000 messages, and answers the next one", async () => {
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const lines = [{ jsonrpc: "2.0", id: "i", method: "initialize", params }, listings(2000), listings(2)];
    const { written, code } = await serveLines(lines.map((line) => JSON.stringify(line)));
    expect(code).toBe(0);
    expect(written).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: -32600 }) as unknown }),
    );
    expect(written.find((each) => Array.isArray(each))).toMatchObject([{ id: 0 }, { id: 1 }]);
  });
});

test("A record that cannot be kept and a logger that throws change nothing for callers", async () => {
  const fail = () => {
    throw new Error("the disk is full");
  };
  const failLater = (): unknown => Promise.reject(new Error("the disk is full"));
  const logger = { debug: fail, info: fail, warn: fail, error: fail };
  for (const audit of [fail, failLater]) {
    await using world = await FaultWorld.open(() => ({ up: wordy(1) }), { audit, logger }, { logger });
    using caller = world.caller("up");
    expect((await caller.tool("long")).message.result).toMatchObject({ content: [] });
    expect((await caller.tool("long", {}, { more: { _meta: 5 } })).status).toBeLessThan(500);
  }
});
