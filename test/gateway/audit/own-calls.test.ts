import { expect, test } from "vitest";
import { isRecord } from "../../../src/json/is-record.ts";
import { onBothEngines } from "../../fixtures/store-world.ts";
import { AuditedGateway } from "./audited-gateway.ts";

const URI = "nexus://calls";

onBothEngines("the calls of a caller, as a resource", (world) => {
  test("X13: a caller with a key reads its own calls, without arguments and results, and nobody else's", async () => {
    const store = await world().openStore();
    await using it = await AuditedGateway.open(store, { settings: { arguments: "full", results: "full" } });
    const [ada, bob] = [await it.newKey(["*"]), await it.newKey(["box.look"])];
    await it.call("look", { text: "private" }, ada);
    await it.call("fail", {}, ada);
    await it.call("look", {}, bob);
    await expect.poll(() => it.records()).toHaveLength(3);

    expect(await listed(it, ada.headers)).toContain(URI);
    const calls = await read(it, ada.headers);
    const outcomes = calls.map(({ target, outcome, keyId }) => [target, outcome, keyId]);
    expect(outcomes.slice(-2)).toEqual([
      ["box__fail", "tool_error", ada.id],
      ["box__look", "ok", ada.id],
    ]);
    expect(JSON.stringify(calls)).not.toContain("private");
    expect((await read(it, bob.headers)).every(({ keyId }) => keyId === bob.id)).toBe(true);
  });

  test("a caller without a key has no calls of its own, and other URIs of the gateway do not exist", async () => {
    const store = await world().openStore();
    await using it = await AuditedGateway.open(store);
    expect(await listed(it, {})).toEqual([]);
    const unknown = await it.world.ask("resources/read", { uri: URI }, { capabilities: {} });
    expect(unknown.error).toMatchObject({ message: expect.stringContaining(URI) as string });
    const { headers } = await it.newKey(["*"]);
    const other = await it.world.ask("resources/read", { uri: "nexus://other" }, { headers, capabilities: {} });
    expect(other.error).toMatchObject({ message: expect.stringContaining("nexus://other") as string });
  });
});

async function listed(it: AuditedGateway, headers: Record<string, string>): Promise<unknown[]> {
  const { result } = await it.world.ask("resources/list", {}, { headers, capabilities: {} });
  const { resources } = result as { resources: { uri: string }[] };
  return resources.map(({ uri }) => uri);
}

async function read(it: AuditedGateway, headers: Record<string, string>): Promise<Record<string, unknown>[]> {
  const { result } = await it.world.ask("resources/read", { uri: URI }, { headers, capabilities: {} });
  const { contents } = result as { contents: { text: string }[] };
  const shown: unknown = JSON.parse(contents[0]?.text ?? "");
  return isRecord(shown) ? (shown["calls"] as Record<string, unknown>[]) : [];
}
