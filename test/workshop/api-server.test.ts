import { afterEach, describe, expect, test, vi } from "vitest";
import { connect, type Client } from "../../src/index.ts";
import type { InputRequest } from "../../src/protocol/mcp.ts";
import type { Revision } from "../../src/protocol/revisions.ts";
import type { ConnectOptions } from "../../src/index.ts";
import { apiServer, transportTo } from "../../src/workshop/serve/api-server.ts";
import { found, HIDDEN, MANUAL, openShop, silence, status, type Shop } from "./shop-world.ts";
import { REQUEST_STATE_HOURS } from "../../src/protocol/modern.ts";

const documents = { manual: MANUAL };
const opened = (shop: Shop, revisions?: Revision[], options: ConnectOptions = {}): Promise<Client> =>
  connect(transportTo(apiServer(shop.runner, { documents, ...(revisions ? { revisions } : {}) })), options);

const confirming = (asked: InputRequest[]) => ({
  capabilities: { elicitation: { form: {} } },
  handle: async (request: InputRequest) => {
    asked.push(request);
    return { action: "accept" as const, content: { confirm: true } };
  },
});

describe.each<[string, Revision[]]>([
  ["modern", ["2026-07-28"]],
  ["legacy", ["2025-11-25"]],
])("an API served to a %s client", (era, revisions) => {
  test("has the tools of its file, in its order, with everything that describes them (X2)", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    expect(client.era).toBe(era);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["find_items", "order_item", "ring_bell"]);
    expect(tools[0]).toMatchObject({
      title: "Find items",
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      _meta: { "dev.nexus/version": "1.2.0" },
    });
  });

  test("answers calls, with progress, and failures as results (X3, X4)", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    const shares: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => shares.push(progress);
    expect(await client.callTool("find_items", { text: "tea" }, { onProgress })).toMatchObject({
      structuredContent: { count: 1 },
      _meta: { "dev.nexus/correlationId": expect.any(String) },
    });
    expect(shares).toEqual([0, 0.25, 0.9, 1]);
    shop.replies["find"] = [status(401)];
    expect(await client.callTool("find_items", { text: "tea" })).toMatchObject({ isError: true });
    await expect(client.callTool("nothing")).rejects.toMatchObject({ code: "SERVER_ERROR" });
  });

  test("takes the correlation id of the call, and sends it upstream (X9)", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    const result = await client.callTool("find_items", { text: "tea" }, { correlationId: "order-7" });
    expect(result).toMatchObject({ _meta: { "dev.nexus/correlationId": "order-7" } });
    expect(shop.asked).toMatchObject([{ headers: { "x-request-id": "order-7" } }]);
  });

  test("asks its client when a price has changed, and orders for the price that was confirmed", async () => {
    await using shop = await openShop();
    const asked: InputRequest[] = [];
    await using client = await opened(shop, revisions, { input: confirming(asked) });
    shop.replies["find"] = [found(["tea", 3.5])];
    const order = { code: "tea", expectedTotal: 3 };
    expect(await client.callTool("order_item", order)).toMatchObject({ structuredContent: { total: 3.5 } });
    expect(asked).toMatchObject([{ params: { message: "tea costs 3.5, not 3. Order it?" } }]);
    expect(shop.askedFor("orders")).toHaveLength(1);
    expect(shop.askedFor("orders")[0]?.body).toContain("<total>3.5</total>");
  });

  test("tells the new price to a client that cannot be asked", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    shop.replies["find"] = [found(["tea", 3.5])];
    const result = await client.callTool("order_item", { code: "tea", expectedTotal: 3 });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"expectedTotal": 3.5') }],
    });
    expect(shop.askedFor("orders")).toEqual([]);
  });

  test("ends its request to the upstream when the client gives up", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    const stop = new AbortController();
    const left = new Promise<void>((resolve) => {
      shop.replies["find"] = [
        (asked, response, request) => {
          response.on("close", () => resolve());
          silence(asked, response, request);
          stop.abort();
        },
      ];
    });
    const call = client.callTool("find_items", { text: "tea" }, { signal: stop.signal });
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await left;
  });

  test("says before a write is sent what to do if no answer comes, and a client that gives up repeats it", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    const stop = new AbortController();
    shop.replies["orders"] = [() => stop.abort()];
    const order = { code: "tea", expectedTotal: 3 };
    const call = client.callTool("order_item", order, { signal: stop.signal, onProgress() {} });
    await expect(call).rejects.toMatchObject({
      code: "CANCELLED",
      message: expect.stringMatching(/If no answer comes: Ask the shop whether the order [2-9A-Z]{20} arrived\.$/),
    });
  });

  test("serves its documents as a whole, by chapter and by line, without secrets (X13)", async () => {
    await using shop = await openShop();
    await using client = await opened(shop, revisions);
    const resources = await client.listResources();
    expect(resources.map(({ uri, title }) => [uri, title])).toEqual([
      ["doc://shop/manual", "Shop manual"],
      ["doc://shop/manual/L3-L5", "Searching"],
      ["doc://shop/manual/L7-L9", "Ordering"],
    ]);
    expect(resources[0]).toMatchObject({ mimeType: "text/markdown", annotations: { audience: ["user", "assistant"] } });
    // The PIN of a shop is known to be secret once it was used.
    await client.callTool("order_item", { code: "tea", expectedTotal: 3 });
    const uris = [...resources.map(({ uri }) => uri), "doc://shop/manual/L5", "doc://shop/manual/L9"];
    const texts = await Promise.all(uris.map(async (uri) => JSON.stringify(await client.readResource(uri))));
    expect(texts[0]).toContain("# Shop manual");
    expect(texts[1]).toContain("## Searching");
    expect(texts[3]).toContain("Ask with user=partner-7");
    for (const lines of ["L99", "L5-L3", "L0", "whole"]) {
      await expect(client.readResource(`doc://shop/manual/${lines}`)).rejects.toMatchObject({ code: "SERVER_ERROR" });
    }
    await expect(client.readResource("doc://shop/constructor/L1")).rejects.toMatchObject({ code: "SERVER_ERROR" });
    expect(texts.join("")).toContain("user=partner-7 and password=•••");
    for (const secret of HIDDEN) expect(texts.join("")).not.toContain(secret);
  });
});

test("the answer to one question is not taken for another, and a state fits only the call it was made for", async () => {
  await using shop = await openShop();
  const capabilities = { elicitation: {} };
  await using client = await opened(shop, undefined, {
    input: { capabilities, handle: () => Promise.reject(new Error()) },
  });
  shop.replies["find"] = [found(["tea", 4]), found(["tea", 5])];
  const order = { name: "order_item", arguments: { code: "tea", expectedTotal: 3 } };
  const asked = await client.request("tools/call", order);
  expect(asked).toMatchObject({ resultType: "input_required", inputRequests: { "confirm-4": {} } });
  const { requestState } = asked;
  const yes = { action: "accept", content: { confirm: true } };
  const inputResponses = { "confirm-4": yes, "confirm-5": yes, "confirm-6": yes };
  // The price is 5 by now: what was confirmed is not what would be ordered.
  const again = await client.request("tools/call", { ...order, requestState, inputResponses });
  expect(again).toMatchObject({ resultType: "input_required", inputRequests: { "confirm-5": {} } });
  const other = { ...order, arguments: { ...order.arguments, units: 2 }, requestState, inputResponses };
  await expect(client.request("tools/call", other)).rejects.toMatchObject({ code: "SERVER_ERROR" });
  await expect(
    client.request("tools/call", { ...order, requestState: `${String(requestState)}x`, inputResponses }),
  ).rejects.toMatchObject({ code: "SERVER_ERROR" });
  expect(shop.askedFor("orders")).toEqual([]);
});

describe("a call that waits for an answer", () => {
  afterEach(() => void vi.useRealTimers());

  test("goes on as long as the command line keeps it, and not longer", async () => {
    await using shop = await openShop();
    const input = { capabilities: { elicitation: {} }, handle: () => Promise.reject(new Error()) };
    await using client = await opened(shop, undefined, { input });
    shop.replies["find"] = [found(["tea", 4])];
    const order = { name: "order_item", arguments: { code: "tea", expectedTotal: 3 } };
    const begun = Date.now();
    const { requestState } = await client.request("tools/call", order);
    const inputResponses = { "confirm-4": { action: "accept", content: { confirm: true } } };
    const goOn = () => client.request("tools/call", { ...order, requestState, inputResponses });
    vi.useFakeTimers({ toFake: ["Date"], now: begun + (REQUEST_STATE_HOURS + 1) * 3_600_000 });
    await expect(goOn()).rejects.toMatchObject({ code: "SERVER_ERROR" });
    vi.setSystemTime(begun + REQUEST_STATE_HOURS * 3_600_000 - 60_000);
    expect(await goOn()).toMatchObject({ structuredContent: { total: 4 } });
  });
});

test("the whole of an excerpt is read by whoever got it, and by nobody else", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [found(...Array.from({ length: 500 }, (_, index): [string, number] => [`c${index}`, index]))];
  await using client = await opened(shop);
  const meta = (caller: string) => ({ _meta: { "dev.nexus/caller": caller } });
  const result = await client.request("tools/call", { name: "find_items", arguments: { text: "x" }, ...meta("ann") });
  const { uri } =
    (result["content"] as { type: string; uri?: string }[]).find(({ type }) => type === "resource_link") ?? {};
  const whole = await client.request("resources/read", { uri, ...meta("ann") });
  expect(whole).toMatchObject({ cacheScope: "private", contents: [{ uri, mimeType: "application/json" }] });
  const [{ text }] = whole["contents"] as [{ text: string }];
  expect(JSON.parse(text)).toMatchObject({ count: 500 });
  await expect(client.request("resources/read", { uri, ...meta("bob") })).rejects.toMatchObject({
    code: "SERVER_ERROR",
  });
  await expect(client.readResource(uri ?? "")).rejects.toMatchObject({ code: "SERVER_ERROR" });
  expect(await client.listResourceTemplates()).toMatchObject([
    { uriTemplate: "doc://shop/{document}/{place}" },
    { uriTemplate: "result://shop/{id}" },
  ]);
});

test("a client that listens is told when the tools change", async () => {
  await using shop = await openShop();
  const server = apiServer(shop.runner, { documents });
  await using client = await connect(transportTo(server));
  let hear: (kind: string) => void = () => {};
  const heard = new Promise<string>((resolve) => (hear = resolve));
  await using subscription = await client.subscribe({ lists: ["tools"] }, ({ kind }) => hear(kind));
  expect(subscription.accepted).toMatchObject({ lists: ["tools"] });
  server.tool({ name: "another" }, () => "new");
  expect(await heard).toBe("list-changed");
});
