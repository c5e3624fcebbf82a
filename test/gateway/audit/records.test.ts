import { expect, test } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";
import { onBothEngines } from "../../fixtures/store-world.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";
import { AuditedGateway } from "./audited-gateway.ts";

const SOON = { timeout: 15_000, interval: 20 };
const HASH = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

onBothEngines("what is recorded in the audit", (world) => {
  test("a call is recorded with all fields, once, and never with its arguments", async () => {
    const store = await world().openStore();
    await using it = await AuditedGateway.open(store);
    const { id, headers } = await it.newKey(["*"]);
    const meta = { [META.clientInfo]: { name: "wire", version: "1.2" } };
    const asked = modern("tools/call", { name: "box__look", arguments: { text: "private" } }, { meta, headers });
    const { text, json } = await send(it.world.url(), asked);
    await expect.poll(() => it.records(), SOON).toHaveLength(1);
    const [record] = await it.records();
    expect(Object.keys(record ?? {})).toEqual(
      (
        "seq at correlationId traceId tenant keyId client revision server method target definitionHash decision outcome " +
        "errorCode durationMs requestBytes responseBytes hash"
      ).split(" "),
    );
    expect(record).toMatchObject({
      seq: 1,
      correlationId: json.result?._meta?.["dev.nexus/correlationId"],
      tenant: "default",
      keyId: id,
      client: { name: "wire", version: "1.2" },
      revision: "2026-07-28",
      server: "box",
      method: "tools/call",
      target: "box__look",
      decision: "allowed",
      outcome: "ok",
      errorCode: null,
      requestBytes: expect.any(Number),
      responseBytes: Buffer.byteLength(text),
      hash: HASH,
    });
    expect(JSON.stringify(record)).not.toContain("private");
  });

  test("failures, refusals, hidden servers, older clients and subscriptions are recorded as what they are", async () => {
    const store = await world().openStore();
    await using it = await AuditedGateway.open(store);
    const { id, headers } = await it.newKey(["box.look", "box.fail"]);
    await it.call("fail", {}, { headers });
    await it.call("hidden", {}, { headers });
    await it.world.ask("tools/list", {}, { headers, capabilities: {} });
    await send(it.world.url("nosuch"), modern("tools/list", {}, { headers }));
    const stream = new OpenStream(
      it.world.url(),
      modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { headers }),
    );
    await expect.poll(() => stream.events.length, SOON).toBeGreaterThan(0);
    stream.leave();
    const session = await LegacyWire.open(it.world.url(), "2025-06-18", {}, headers);
    await session.call("box__look");
    await expect.poll(() => it.records(), SOON).toHaveLength(6);
    const records = await it.records();
    const facts = records.map(({ method, outcome, decision, errorCode }) => [method, outcome, decision, errorCode]);
    expect(facts).toEqual([
      ["tools/call", "tool_error", "allowed", null],
      ["tools/call", "refused", "denied", "NAME_UNKNOWN"],
      ["tools/list", "ok", "allowed", null],
      ["POST /servers/nosuch/mcp", "refused", "denied", "NAME_UNKNOWN"],
      ["subscriptions/listen", "ok", "allowed", null],
      ["tools/call", "ok", "allowed", null],
    ]);
    expect(records.at(-1)).toMatchObject({
      revision: "2025-06-18",
      client: { name: "wire", version: "1" },
      definitionHash: HASH,
      responseBytes: expect.any(Number),
    });
    expect(records.every(({ keyId }) => keyId === id)).toBe(true);
  });

  test("a refused credential is recorded in the tenant of its key, an unknown one in default, and a flood is counted", async () => {
    const store = await world().openStore();
    await store.tenants.create("shop");
    const gateway = await AuditedGateway.open(store, { needs: "keys" });
    await using it = gateway;
    const { id, headers } = await it.newKey(["*"], "shop");
    await store.keys.revoke(id);
    await it.call("look", {}, { headers });
    await it.call("look", {}, { headers: { authorization: `Bearer nxs_${id}_guess` } });
    // All at once, so that they are in one window also where the machine is busy.
    const guesses = Array.from({ length: 150 }, (_, guess) => {
      const unknown = `nxs_${String(guess).padStart(16, "x")}_${"y".repeat(44)}`;
      return it.call("look", {}, { headers: { authorization: `Bearer ${unknown}` } });
    });
    await Promise.all(guesses);
    await it.call("look");
    await gateway[Symbol.asyncDispose]();
    const refused = { method: "authenticate", outcome: "refused", decision: "denied", errorCode: "AUTH_REQUIRED" };
    expect(await it.records("shop")).toMatchObject([
      { ...refused, keyId: id, tenant: "shop", count: 1 },
      { ...refused, keyId: id, tenant: "shop", count: 1 },
    ]);
    expect(await it.records()).toMatchObject([
      { ...refused, keyId: null, count: 1 },
      { ...refused, keyId: null, count: 150 },
    ]);
    expect(JSON.stringify(await it.records())).not.toContain("yyyy");
  });
});
