import { afterAll, beforeAll, expect, test } from "vitest";
import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { serveStdio } from "../../../src/server/stdio/serve-stdio.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { FaultWorld } from "../faults/faults-world.ts";
import { BareEndpoint } from "../../fixtures/gateway/bare-endpoint.ts";
import { StandInCore } from "../legacy/legacy-stand-in.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

/** Ids that an answer cannot repeat exactly, or that are no ids in MCP. */
const REFUSED = ["1e400", "-1e400", "9007199254740993", "1e21", "1.5", "null", "{}", "[1]", "true"];
const KEPT = [`"1e400"`, `""`, "0", "-7", "9007199254740991"];
const CLEAR = expect.stringContaining(`"id" must be a string or an integer`) as unknown;

let world: FaultWorld;

beforeAll(async () => {
  world = await FaultWorld.open(() => ({ up: stdioFixture(["--revision", "2025-11-25"]) }));
});

afterAll(() => world[Symbol.asyncDispose]());

const withId = (body: string | undefined, id: string) => (body ?? "").replace(/"id":7/, `"id":${id}`);

async function answerToModern(id: string): Promise<{ status: number; json: WireMessage }> {
  const { headers = {}, body } = modern("tools/call", { name: "add_numbers", arguments: { a: 1, b: 1 } });
  return send(world.url("up"), { headers, body: withId(body, id) });
}

async function answerToLegacy(id: string, asBatch = false): Promise<{ status: number; json: WireMessage }> {
  const session = await LegacyWire.open(world.url("up"), "2025-03-26");
  const text = withId(`{"jsonrpc":"2.0","id":7,"method":"ping"}`, id);
  const headers = { "content-type": "application/json", ...session.headers };
  return send(world.url("up"), { headers, body: asBatch ? `[${text}]` : text });
}

test.each(REFUSED)("A request with the id %s is refused over HTTP and told why", async (id) => {
  for (const answer of [await answerToModern(id), await answerToLegacy(id), await answerToLegacy(id, true)]) {
    expect([answer.status, answer.json]).toEqual([400, { jsonrpc: "2.0", error: { code: -32600, message: CLEAR } }]);
  }
});

test.each(KEPT)("A request with the id %s is answered with exactly this id over HTTP", async (id) => {
  expect(JSON.stringify((await answerToModern(id)).json.id)).toBe(id);
  expect(JSON.stringify((await answerToLegacy(id)).json.id)).toBe(id);
});

test("A request that is wrong in another way is refused with its id", async () => {
  const { headers = {}, body = "" } = modern("tools/call", { name: "add_numbers" });
  const answer = await send(world.url("up"), { headers, body: body.replace(`"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`) });
  expect([answer.status, answer.json.id, answer.json.error?.code]).toEqual([400, 7, -32600]);
});

test("A progress token that no notification can repeat is treated as none", async () => {
  const { headers = {}, body = "" } = modern(
    "tools/call",
    { name: "test_tool_with_progress" },
    { meta: { progressToken: 7 } },
  );
  const answer = await send(world.url("up"), {
    headers,
    body: body.replace(`"progressToken":7`, `"progressToken":1e400`),
  });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toContain("progressToken");
});

test("On a pipe such ids are refused and others are answered with the id they have", async () => {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const core = new BareEndpoint(new StandInCore());
  const served = serveStdio({ core }, { input, output, signal: stop.signal });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const ask = async (id: string) => {
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    return (await lines.next()).value as string;
  };
  for (const id of REFUSED) {
    expect(JSON.parse(await ask(id))).toEqual({ jsonrpc: "2.0", error: { code: -32600, message: CLEAR } });
  }
  for (const id of KEPT) expect(await ask(id)).toContain(`"id":${id},`);
  input.end();
  await served;
});
