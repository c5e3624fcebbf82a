import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { send } from "../../fixtures/gateway/wire.ts";
import { parrot } from "./faults-servers.ts";
import { examples } from "../../fixtures/depth.ts";
import { ModernCaller, WeighedGateway } from "./faults-world.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const NUMBER_OF_RUNS = examples(150);

let gateway: WeighedGateway;

beforeAll(async () => {
  gateway = await WeighedGateway.open({ parrot: parrot() });
});

/** Its process must have lived until now, and ends with 0. */
afterAll(() => gateway[Symbol.asyncDispose]());

const MEMBERS = [
  "progressToken",
  "progress",
  "requestId",
  "uri",
  "taskId",
  "_meta",
  "mode",
  "url",
  "level",
  "notifications",
];
const odd = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(1, 2, 3, "", "parrot__say", {}, []));
const params = fc.oneof(odd, fc.dictionary(fc.constantFrom(...MEMBERS, "name", "arguments", "cursor", "task"), odd));
const id = fc.oneof(fc.integer({ min: -1, max: 40 }), odd);

/** Messages of every kind, each member of which may be anything. */
function messages(methods: readonly string[]): fc.Arbitrary<unknown> {
  const method = fc.oneof(fc.constantFrom(...methods), fc.constantFrom(...methods), odd);
  const jsonrpc = fc.constant("2.0");
  const error = fc.oneof(odd, fc.record({ code: odd, message: odd, data: odd }));
  return fc.oneof(
    fc.record({ jsonrpc, id, method, params }, { requiredKeys: ["jsonrpc"] }),
    fc.record({ jsonrpc, method, params }, { requiredKeys: ["jsonrpc", "method"] }),
    fc.record({ jsonrpc, id, result: params, error }, { requiredKeys: ["jsonrpc", "id"] }),
    odd,
  );
}

const OF_SERVERS = [
  "notifications/progress",
  "notifications/cancelled",
  "notifications/message",
  "notifications/tools/list_changed",
  "notifications/resources/updated",
  "notifications/tasks/status",
  "notifications/elicitation/complete",
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
  "ping",
];
const OF_CLIENTS = [
  "tools/list",
  "tools/call",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "tasks/get",
  "logging/setLevel",
  "resources/subscribe",
  "server/discover",
  "ping",
  "notifications/cancelled",
  "notifications/initialized",
];

test("Whatever a server sends, the gateway answers the next call", { timeout: 120_000 }, async () => {
  using caller = new ModernCaller(gateway.server("parrot"));
  const legacy = await LegacyWire.open(gateway.server("parrot"), "2025-11-25", EVERYTHING);
  await fc.assert(
    fc.asyncProperty(fc.array(messages(OF_SERVERS), { maxLength: 6 }), async (said) => {
      const lines = said.map((message) => JSON.stringify(message));
      const patience = AbortSignal.timeout(200);
      const asked = caller.tool("say", { lines }, { capabilities: EVERYTHING, signal: patience }).catch(() => {});
      const streamed = legacy.request("tools/call", { name: "say", arguments: { lines } });
      await Promise.all([asked, streamed.then((response) => response.body?.cancel())]);
      using other = new ModernCaller(gateway.url);
      expect((await other.request("tools/list")).message.result.tools).toHaveLength(1);
    }),
    { numRuns: NUMBER_OF_RUNS, seed: 20_260_728 },
  );
});

test("Whatever a client sends, the gateway answers the next request", { timeout: 120_000 }, async () => {
  const session = await LegacyWire.open(gateway.url, "2025-03-26", EVERYTHING);
  const batch = fc.oneof(messages(OF_CLIENTS), fc.array(messages(OF_CLIENTS), { maxLength: 5 }));
  await fc.assert(
    fc.asyncProperty(batch, odd, async (body, capabilities) => {
      const text = JSON.stringify(body) ?? "";
      const headers = { ...HEADERS, ...session.headers };
      const response = await fetch(gateway.url, { method: "POST", headers, body: text });
      await response.body?.cancel();
      const meta = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: capabilities };
      const modern = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } });
      const modernHeaders = { ...HEADERS, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
      expect((await send(gateway.url, { headers: modernHeaders, body: modern })).status).toBeLessThan(500);
      expect((await session.request("ping")).status).toBe(200);
    }),
    { numRuns: NUMBER_OF_RUNS, seed: 20_260_728 },
  );
});
