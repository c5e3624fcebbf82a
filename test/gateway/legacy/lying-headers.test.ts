import { expect, test } from "vitest";
import { StandInCore } from "./legacy-stand-in.ts";
import { eventsOf, send, serveLegacy } from "./legacy-wire.ts";

const CALL = { name: "echo", arguments: { text: "a" } };
const TRUE_HEADERS = { "mcp-method": "tools/call", "mcp-name": "echo" };

/** Headers that say something else than a call of `echo`. */
const LIES: [string, Record<string, string>][] = [
  ["another method", { "mcp-method": "tools/list" }],
  ["the method in other letters", { "mcp-method": "Tools/Call" }],
  ["no method", { "mcp-method": "" }],
  ["another name", { "mcp-name": "ask" }],
  ["another name and the right method", { ...TRUE_HEADERS, "mcp-name": "ask" }],
  ["a name that is not valid Base64", { "mcp-name": "=?base64?%%%?=" }],
];

test.each(LIES)("Mcp-Method and Mcp-Name in a session that say %s are refused (R8)", async (_what, headers) => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25");
  const refused = await wire.request("tools/call", CALL, headers);
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { id: 1, error: { code: -32600, message: expect.stringMatching(/^The header Mcp-/) } },
  ]);
  expect(core.exchanges).toHaveLength(0);
  expect((await wire.request("tools/call", CALL)).status).toBe(200);
  expect((await wire.request("tools/call", CALL, TRUE_HEADERS)).status).toBe(200);
});

test("Mcp-Method that is not true of every message of a batch, of a notification or of an answer is refused (R8)", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-03-26");
  const call = (id: number, name: string) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { ...CALL, name },
  });
  const list = { jsonrpc: "2.0", id: 9, method: "tools/list" };
  expect((await wire.post([list, call(2, "echo")], { "mcp-method": "tools/list" })).status).toBe(400);
  expect((await wire.post([call(1, "echo"), call(2, "ask")], TRUE_HEADERS)).status).toBe(400);
  expect((await wire.post({ method: "notifications/cancelled", params: {} }, TRUE_HEADERS)).status).toBe(400);
  expect((await wire.post({ id: 5, result: {} }, TRUE_HEADERS)).status).toBe(400);
  expect(core.exchanges).toHaveLength(0);
  expect((await wire.post([call(1, "echo"), call(2, "echo")], TRUE_HEADERS)).status).toBe(200);
});

test("initialize and a session with a header of another era are refused (R8)", async () => {
  await using world = await serveLegacy(new StandInCore());
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "wire", version: "1" } };
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  expect((await send(`${world.origin}/mcp`, initialize, { "mcp-method": "tools/list" })).status).toBe(400);
  const wire = await world.open("2025-11-25");
  expect((await wire.request("ping", {}, { "mcp-protocol-version": "2026-07-28" })).status).toBe(400);
  // Clients exist that always send their newest.
  expect((await wire.request("ping", {}, { "mcp-protocol-version": "2025-06-18" })).status).toBe(200);
});

test("the same headers of clients of HTTP+SSE are refused where they are not true (R8)", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const stream = await fetch(`${world.origin}/sse`);
  const events = eventsOf(stream);
  const { value: endpoint } = await events.next();
  const url = `${world.origin}${String(endpoint?.data)}`;
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "wire", version: "1" } };
  const post = (message: object, headers = {}) => send(url, { jsonrpc: "2.0", ...message }, headers);
  expect((await post({ id: 1, method: "initialize", params })).status).toBe(202);
  await events.next();
  const call = { id: 2, method: "tools/call", params: CALL };
  for (const [, headers] of LIES) expect((await post(call, headers)).status).toBe(400);
  expect((await post(call, { "mcp-protocol-version": "2026-07-28" })).status).toBe(400);
  expect(core.exchanges).toHaveLength(0);
  expect((await post(call, TRUE_HEADERS)).status).toBe(202);
  expect((await events.next()).value?.message).toMatchObject({ id: 2, result: {} });
  await events.return(undefined);
});
