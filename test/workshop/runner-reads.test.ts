import { expect, test } from "vitest";
import { checkResult } from "../../src/client/schema-check.ts";
import type { CallToolResult, Progress } from "../../src/protocol/mcp.ts";
import { cut, found, HIDDEN, openShop, SECRETS, silence, status, xml } from "./shop-world.ts";

const textOf = (result: CallToolResult) => result.content.map(({ text }) => text).join("\n");

test("an answer becomes a line for people and the same value for programs and models (X3, X5, X6)", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [found(["tea", 3], ["Süßes", 4.5])];
  const result = await shop.runner.call("find_items", { text: "x & y" });
  const value = {
    count: 2,
    asked: "x & y",
    items: [
      { code: "tea", price: 3, kind: "food" },
      { code: "Süßes", price: 4.5, kind: "food" },
    ],
  };
  expect(result).toEqual({
    content: [
      { type: "text", text: "Found 2 items for x & y.", annotations: { audience: ["user", "assistant"] } },
      { type: "text", text: JSON.stringify(result.structuredContent), annotations: { audience: ["assistant"] } },
    ],
    structuredContent: value,
    _meta: { "dev.nexus/correlationId": expect.stringMatching(/^nx-[0-9a-f]{16}$/) },
  });
  expect(shop.asked).toMatchObject([{ headers: { "content-type": "application/xml; charset=utf-8" } }]);
  expect(shop.asked[0]?.body).toContain("<text>x &amp; y</text>");
  expect(new URL(shop.asked[0]?.url ?? "", shop.url).searchParams.get("password")).toBe(SECRETS["shop.password"]);
});

test("arguments that do not fit are refused, all at once, before anything leaves (X3)", async () => {
  await using shop = await openShop();
  const result = await shop.runner.call("find_items", { text: "", kind: "stone", colour: "red" });
  expect(result.isError).toBe(true);
  for (const word of ["text", "kind", "colour"]) expect(textOf(result)).toContain(word);
  expect(textOf(result)).toContain(`It takes: text, kind, includeSourcePayload.\nFor example: {"text":"example"}`);
  expect(shop.asked).toEqual([]);
});

test("a name that is wrong inside of an argument is told with the names of its level, not those of the arguments", async () => {
  const nested = (file: string) =>
    file
      .replace(
        "      kind: { type: string, codes: { 1: food, 2: tool }, default: food",
        "      box: { type: Box, optional: true }\n$&",
      )
      .replace("  Found:\n", "  Box:\n    fields:\n      width: { type: integer }\n  Found:\n");
  await using shop = await openShop({}, nested);
  const result = await shop.runner.call("find_items", { text: "tea", box: { width: 1, colour: "red" } });
  expect(textOf(result)).toContain("- unknown property box.colour; box accepts width");
  expect(textOf(result)).not.toContain("It takes");
});

test("a secret that is not set is named, with the command that sets it, and nothing is sent", async () => {
  await using shop = await openShop({ secrets: async () => undefined });
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain("shop.user, shop.password");
  expect(textOf(result)).toContain("nexus secrets set shop.password");
  expect(shop.asked).toEqual([]);
});

test("failures say what the file says about them, by status and by what the answer holds", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [status(401), xml(`<found xmlns="urn:shop"><error>Closed today</error></found>`), status(404)];
  const texts: string[] = [];
  for (let call = 0; call < 3; call++) {
    const result = await shop.runner.call("find_items", { text: "tea" });
    expect(result).toMatchObject({ isError: true, _meta: { "dev.nexus/correlationId": expect.any(String) } });
    expect(result.structuredContent).toBeUndefined();
    texts.push(textOf(result));
  }
  expect(texts).toEqual([
    "The shop refused the credentials of tea.\nSet them again.",
    "The shop says: Closed today",
    "Corner shop answered with HTTP 404.\nIt said: Oops\nIt has nothing of that name: check the ids and names in the arguments.",
  ]);
  expect(shop.asked).toHaveLength(3);
});

test.each<[string, () => ReturnType<typeof status>]>([
  ["500", () => status(500)],
  ["502", () => status(502)],
  ["503", () => status(503)],
  ["504", () => status(504)],
  ["429", () => status(429)],
  ["a cut connection", () => cut],
])("what only reads is tried again after %s, as often as its limits say (X11)", async (_, failing) => {
  await using shop = await openShop();
  shop.replies["find"] = [failing(), failing(), found(["tea", 3])];
  expect(await shop.runner.call("find_items", { text: "tea" })).toMatchObject({ structuredContent: { count: 1 } });
  expect(shop.asked).toHaveLength(3);
  expect(shop.pauses).toHaveLength(2);
  shop.replies["find"] = [failing()];
  expect(await shop.runner.call("find_items", { text: "tea" })).toMatchObject({ isError: true });
  expect(shop.asked).toHaveLength(6);
});

test("Retry-After is respected as long as the time of the call allows it (X11)", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [status(429, { "retry-after": "1" }), found(["tea", 3])];
  await shop.runner.call("find_items", { text: "tea" });
  expect(shop.pauses).toEqual([1_000]);
  shop.replies["find"] = [status(503, { "retry-after": "60" })];
  expect(await shop.runner.call("find_items", { text: "tea" })).toMatchObject({ isError: true });
  expect(shop.asked).toHaveLength(3);
});

test("a shop that is not there is told as such", async () => {
  await using gone = await openShop();
  const url = gone.url;
  // Opened before the other one is closed, whose port it could get.
  await using shop = await openShop({ upstream: url });
  await gone[Symbol.asyncDispose]();
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(textOf(result)).toBe("Corner shop could not be reached; the request was not sent.\nTry again later.");
  expect(shop.pauses).toHaveLength(2);
});

test("an answer that does not come is given up when the time is over (X11)", async () => {
  await using shop = await openShop({}, (file) =>
    file.replace("timeout: 2s, retries: 2", "timeout: 100ms, retries: 2"),
  );
  shop.replies["find"] = [silence];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(textOf(result)).toBe("Corner shop did not respond in time.\nTry again later.");
  expect(shop.asked).toHaveLength(1);
});

test.each(["<found", "not XML at all", `<!DOCTYPE a [<!ENTITY b "c">]><found>&b;</found>`, ""])(
  "an answer that cannot be read is a failure: %s",
  async (body) => {
    await using shop = await openShop();
    shop.replies["find"] = [xml(body)];
    const result = await shop.runner.call("find_items", { text: "tea" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^The response of Corner shop cannot be read: /);
  },
);

test("an answer that is larger than anybody reads is a failure", async () => {
  await using shop = await openShop({ maxAnswerBytes: 1_000 });
  shop.replies["find"] = [found(...Array.from({ length: 100 }, (_, index): [string, number] => [`c${index}`, index]))];
  expect(await shop.runner.call("find_items", { text: "tea" })).toMatchObject({ isError: true });
});

test("an answer that is not as documented is returned, with what is wrong with it, and logged", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [
    xml(
      `<found xmlns="urn:shop"><items><item code="tea"><price>cheap p&amp;ss w+rd/ö</price><new/></item></items></found>`,
    ),
  ];
  const result = await shop.runner.call("find_items", { text: "tea" });
  const deviations = [
    { path: "items[0].price", problem: "expected a number", received: "cheap •••" },
    expect.objectContaining({ path: expect.stringContaining("items[0]") }),
  ];
  expect(result).toMatchObject({ structuredContent: { count: 1, items: [{ code: "tea" }] } });
  expect((result.structuredContent as { deviations: unknown[] }).deviations).toEqual(
    expect.arrayContaining(deviations),
  );
  expect(textOf(result)).toContain("not as documented in 2 places");
  expect(shop.logged.find(({ level }) => level === "warn")?.data["deviations"]).toHaveLength(2);
  const tool = shop.runner.api.tools["find_items"];
  expect(tool && (await checkResult(tool, result))).toEqual({ kind: "valid" });
});

test("a large result is an excerpt of the same type, and the whole is kept for its caller", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [found(...Array.from({ length: 500 }, (_, index): [string, number] => [`c${index}`, index]))];
  const result = await shop.runner.call("find_items", { text: "tea" }, { caller: "ann" });
  expect(JSON.stringify(result.structuredContent).length).toBeLessThanOrEqual(1_024);
  const { items, count } = result.structuredContent as { items: unknown[]; count: number };
  expect(count).toBe(500);
  expect(items.length).toBeGreaterThan(10);
  expect(result._meta?.["dev.nexus/omitted"]).toEqual([{ path: "items", shown: items.length, of: 500 }]);
  expect(textOf(result)).toContain(`${items.length} of 500 in items`);
  const link = result.content.find(({ type }) => type === "resource_link");
  const id = link?.uri?.split("/").at(-1) ?? "";
  expect(JSON.parse(String(shop.runner.findResult("ann", id)?.content))).toMatchObject({ count: 500 });
  expect(shop.runner.findResult("bob", id)).toBeUndefined();
  const tool = shop.runner.api.tools["find_items"];
  expect(tool && (await checkResult(tool, result))).toEqual({ kind: "valid" });
});

test("a result is as small as it has to be, whatever stands in its line for people", async () => {
  const repeating = (file: string) => file.replace('"Found {count} items for {input.text}."', '"Found {note}"');
  await using shop = await openShop({}, repeating);
  shop.replies["find"] = [xml(`<found xmlns="urn:shop"><items/><note>${"😀".repeat(100_000)}</note></found>`)];
  const { content } = await shop.runner.call("find_items", { text: "tea" });
  for (const block of content) expect(JSON.stringify(block).length).toBeLessThan(3_000);
});

test("the answer as it came is there when asked for, for people, without secrets (X5, X9)", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [
    ({ url }, response) => response.end(`<found xmlns="urn:shop"><note>${url.replaceAll("&", "&amp;")}</note></found>`),
  ];
  const result = await shop.runner.call("find_items", { text: "tea", includeSourcePayload: true });
  const payload = result.content.at(-1);
  expect(payload).toMatchObject({
    annotations: { audience: ["user"] },
    text: expect.stringContaining("user=partner-7"),
  });
  expect(payload?.text).toContain("password=•••");
  expect(result.structuredContent).toMatchObject({ note: expect.stringContaining("password=•••") });
});

test("progress grows from 0 to 1, and everything that is told of a call has its id (X4, X9)", async () => {
  await using shop = await openShop();
  shop.replies["find"] = [status(503), found(["tea", 3])];
  const steps: Progress[] = [];
  const told: unknown[] = [];
  const result = await shop.runner.call(
    "find_items",
    { text: "tea" },
    { progress: (step) => steps.push(step), log: (_level, data) => told.push(data) },
  );
  const shares = steps.map(({ progress }) => progress);
  expect(shares[0]).toBe(0);
  expect(shares.at(-1)).toBe(1);
  expect(shares).toEqual([...new Set(shares)].sort((a, b) => a - b));
  const correlation = result._meta?.["dev.nexus/correlationId"];
  expect(told.length).toBeGreaterThan(2);
  for (const data of told) expect(data).toMatchObject({ correlationId: correlation, tool: "find_items" });
  for (const { data } of shop.logged)
    expect(data).toMatchObject({ correlationId: correlation, tool: "find_items", api: "shop" });
});

test("no secret is in any result, log, progress or payload, however the shop repeats it (X8, X9)", async () => {
  await using shop = await openShop();
  const echoes: ((url: string, pin: string) => string)[] = [
    (url) => `<found xmlns="urn:shop"><error>bad address ${url.replaceAll("&", "&amp;")}</error></found>`,
    () => `<found xmlns="urn:shop"><note>p&amp;ss w+rd/ö</note><p>p&amp;ss w+rd/ö</p></found>`,
    (url) => `<found ${url}`,
  ];
  const seen: unknown[] = [];
  for (const echo of echoes) {
    shop.replies["find"] = [({ url }, response) => response.end(echo(url, ""))];
    const options = {
      progress: (step: unknown) => seen.push(step),
      log: (_: string, data: unknown) => seen.push(data),
    };
    seen.push(await shop.runner.call("find_items", { text: "tea", includeSourcePayload: true }, options));
  }
  shop.replies["find"] = [found(["tea", 3])];
  shop.replies["orders"] = [xml(`<ordered xmlns="urn:shop"><error>PIN 4711 is wrong</error></ordered>`)];
  seen.push(await shop.runner.call("order_item", { code: "tea", expectedTotal: 3 }));
  const all = JSON.stringify([seen, shop.logged]);
  expect(all).toContain("•••");
  for (const secret of HIDDEN) expect(all).not.toContain(JSON.stringify(secret).slice(1, -1));
  expect(all).not.toContain("password=p");
});

test("a caller who leaves ends the request to the shop", async () => {
  await using shop = await openShop();
  const stop = new AbortController();
  const left = new Promise<void>((resolve) => {
    shop.replies["find"] = [
      (_asked, response) => {
        response.on("close", () => resolve());
        stop.abort();
      },
    ];
  });
  const call = shop.runner.call("find_items", { text: "tea" }, { signal: stop.signal });
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
  await left;
  expect(shop.asked).toHaveLength(1);
});

test("what is being read when the API is closed ends then, and is not tried again", async () => {
  await using shop = await openShop({}, (file) => file.replaceAll("timeout: 2s", "timeout: 60s"));
  const arrived = new Promise<void>((resolve) => (shop.replies["find"] = [() => resolve()]));
  const reading = shop.runner.call("find_items", { text: "tea" });
  await arrived;
  await shop.runner.close();
  expect(await reading).toMatchObject({ isError: true });
  expect(await shop.runner.call("find_items", { text: "tea" })).toMatchObject({ isError: true });
  expect(await shop.runner.call("order_item", { code: "tea", expectedTotal: 3 })).toMatchObject({ isError: true });
  expect(shop.asked).toHaveLength(1);
});

test("a signer adds to the finished request, and one that is missing is told when the API is opened (X8)", async () => {
  const signed = (file: string) => file.replace("public: [user] }", "public: [user], sign: stamp }");
  await expect(openShop({}, signed)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  const signers = {
    stamp: (request: { url: string; headers: Record<string, string>; method: "POST" }) => ({
      ...request,
      headers: { ...request.headers, "x-signature": `len-${request.url.length}` },
    }),
  };
  await using shop = await openShop({ signers: signers as never }, signed);
  await shop.runner.call("find_items", { text: "tea" });
  expect(shop.asked[0]?.headers["x-signature"]).toMatch(/^len-\d+$/);
});

test.each([
  "http://shop.example/",
  "http://10.0.0.1/",
  "ftp://127.0.0.1/",
  "http://a:b@127.0.0.1/",
  "http://127.0.0.1.evil.example/",
])("a stand-in for the upstream must be on this machine: %s (X8)", async (upstream) => {
  await expect(openShop({ upstream })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
