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

  test("X13: they are also at the endpoint of one server, whose calls are recorded with the hash of the definition", async () => {
    const store = await world().openStore();
    await using it = await AuditedGateway.open(store);
    const server = "box";
    const look = { name: "look", arguments: {} };
    // The first call of all: the gateway itself has read no list.
    await (await it.world.session({ server })).call("look");
    const { headers } = await it.newKey(["box"]);
    await it.world.ask("tools/call", look, { headers, server, capabilities: {} });
    await it.call("look", {}, { headers });
    await expect.poll(() => it.records()).toHaveLength(3);
    const hashes = (await it.records()).map(({ target, definitionHash }) => [target, definitionHash]);
    const hash: unknown = hashes[2]?.[1];
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hashes).toEqual([
      ["look", hash],
      ["look", hash],
      ["box__look", hash],
    ]);

    // This server has no resources of its own.
    const about = await it.world.ask("server/discover", {}, { headers, server, capabilities: {} });
    expect(about.result).toMatchObject({ capabilities: { resources: {} } });
    expect(await listed(it, headers, server)).toEqual([URI]);
    const templates = await it.world.ask("resources/templates/list", {}, { headers, server, capabilities: {} });
    expect(templates.result).toMatchObject({ resourceTemplates: [] });
    expect((await read(it, headers, server)).map(({ target }) => target)).toEqual(
      expect.arrayContaining(["box__look", "look"]),
    );
    expect(await listed(it, {}, server).catch(() => "none")).not.toContain(URI);
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

async function listed(it: AuditedGateway, headers: Record<string, string>, server?: string): Promise<unknown[]> {
  const { result } = await it.world.ask("resources/list", {}, { headers, server, capabilities: {} });
  const { resources = [] } = (result ?? {}) as { resources?: { uri: string }[] };
  return resources.map(({ uri }) => uri);
}

async function read(
  it: AuditedGateway,
  headers: Record<string, string>,
  server?: string,
): Promise<Record<string, unknown>[]> {
  const { result } = await it.world.ask("resources/read", { uri: URI }, { headers, server, capabilities: {} });
  const { contents } = result as { contents: { text: string }[] };
  const shown: unknown = JSON.parse(contents[0]?.text ?? "");
  return isRecord(shown) ? (shown["calls"] as Record<string, unknown>[]) : [];
}
