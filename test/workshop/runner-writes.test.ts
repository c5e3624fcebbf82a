import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import type { InputRequests } from "../../src/server/features/call-context.ts";
import { FileWriteLedger } from "../../src/workshop/run/writes/file-write-ledger.ts";
import { MemoryWriteLedger, type WriteLedger } from "../../src/workshop/run/writes/write-ledger.ts";
import { isFull } from "../fixtures/depth.ts";
import { cut, found, openShop, ordered, silence, status, xml, type Reply } from "./shop-world.ts";

const ORDER = { code: "tea", expectedTotal: 3 };
const textOf = (result: CallToolResult) => result.content.map(({ text }) => text).join("\n");
const quick = (file: string) => file.replaceAll("timeout: 2s, retries: 0", "timeout: 100ms, retries: 0");
const refusing = xml(`<ordered xmlns="urn:shop"><error>Sold out</error></ordered>`);

let folder = "";
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-writes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const newLedgerFile = () => join(folder, `${files++}.jsonl`);
const ledgerIn = (file: string) => new FileWriteLedger({ file, platform: process.platform });

describe("a write", () => {
  test("is sent with what is computed, constant and secret, each in its place (X8)", async () => {
    await using shop = await openShop({ now: () => Date.UTC(2025, 10, 3, 16, 20, 5) });
    const result = await shop.runner.call("order_item", { ...ORDER, units: 1 });
    const [sent] = shop.askedFor("orders");
    expect(sent).toMatchObject({ url: "/api/shops/1/orders", headers: { "x-pin": "4711" } });
    const [, id] = /<order id="([2-9A-Z]{20})" at="2025-11-03T16:20:05" channel="nexus">/.exec(sent?.body ?? "") ?? [];
    expect(id).toBeDefined();
    expect(result).toMatchObject({ structuredContent: { orderId: id, total: 3 } });
    expect(textOf(result)).toContain(`Ordered ${id} for 3.`);
  });

  test("is recognised when it is repeated: nothing is sent, and what the first gave is given again", async () => {
    const file = newLedgerFile();
    await using shop = await openShop({ ledger: ledgerIn(file) });
    const first = await shop.runner.call("order_item", ORDER);
    const again = await shop.runner.call("order_item", { expectedTotal: 3, units: 1, code: "tea" });
    const restarted = await shop.open({ ledger: ledgerIn(file) }).call("order_item", ORDER);
    for (const repeat of [again, restarted]) {
      expect(repeat.structuredContent).toEqual(first.structuredContent);
      expect(textOf(repeat)).toMatch(/^This was already done at \d{4}-.*Nothing was sent again/);
      expect(repeat._meta).toMatchObject({ "dev.nexus/repeated": { at: expect.any(String) } });
    }
    expect(shop.askedFor("orders")).toHaveLength(1);
    expect(shop.askedFor("find")).toHaveLength(1);
    expect(await readFile(file, "utf8")).not.toContain("4711");
  });

  test("is recorded without the raw answer, which only its own caller asked for", async () => {
    const file = newLedgerFile();
    await using shop = await openShop({ ledger: ledgerIn(file) });
    const first = await shop.runner.call("order_item", { ...ORDER, includeSourcePayload: true });
    expect(textOf(first)).toContain("<accepted/>");
    const repeat = await shop.runner.call("order_item", ORDER);
    expect(textOf(repeat)).toContain("already done");
    expect(textOf(repeat)).not.toContain("<accepted/>");
    expect(await readFile(file, "utf8")).not.toContain("accepted");
  });

  test("tells how far it is, past the look at what is true now", async () => {
    await using shop = await openShop();
    const shares: number[] = [];
    await shop.runner.call("order_item", ORDER, { progress: ({ progress }) => shares.push(progress) });
    expect(shares).toEqual([0, 0.05, 0.18, 0.25, 0.9, 1]);
  });

  test("with another reference, by another caller or with other arguments is another write", async () => {
    await using shop = await openShop();
    await shop.runner.call("order_item", ORDER, { caller: "ann" });
    await shop.runner.call("order_item", { ...ORDER, reference: "2" }, { caller: "ann" });
    await shop.runner.call("order_item", ORDER, { caller: "bob" });
    await shop.runner.call("order_item", { ...ORDER, units: 2, expectedTotal: 6 }, { caller: "ann" });
    const ids = shop.askedFor("orders").map(({ body }) => / id="(\w+)"/.exec(body)?.[1]);
    expect(new Set(ids).size).toBe(4);
  });

  test("that is made many times at once is sent once, and all get its result", async () => {
    const file = newLedgerFile();
    await using shop = await openShop({ ledger: ledgerIn(file) });
    const results = await Promise.all(Array.from({ length: 8 }, () => shop.runner.call("order_item", ORDER)));
    expect(shop.askedFor("orders")).toHaveLength(1);
    for (const result of results) expect(result).toMatchObject({ structuredContent: { total: 3 } });
  });

  test("that another process is making is not made a second time", async () => {
    const file = newLedgerFile();
    await using shop = await openShop({ ledger: ledgerIn(file) });
    const other = shop.open({ ledger: ledgerIn(file) });
    let finish = () => {};
    const started = new Promise<void>((resolve) => {
      shop.replies["orders"] = [
        (asked, response, request) => {
          finish = () => ordered()(asked, response, request);
          resolve();
        },
      ];
    });
    const first = shop.runner.call("order_item", ORDER);
    await started;
    const second = await other.call("order_item", ORDER);
    expect(second.isError).toBe(true);
    expect(textOf(second)).toContain("has been running");
    finish();
    expect(await first).toMatchObject({ structuredContent: { total: 3 } });
    expect(textOf(await other.call("order_item", ORDER))).toContain("already done");
    expect(shop.askedFor("orders")).toHaveLength(1);
  });

  test.each<[string, Reply]>([
    ["does not answer in time", silence],
    ["breaks off", cut],
    ["answers 500", status(500)],
    ["answers 503", status(503)],
    ["answers 303", status(303, { location: "/elsewhere" })],
    ["answers with something unreadable", xml("<ordered")],
    ["neither takes nor refuses it", xml(`<ordered xmlns="urn:shop"/>`)],
  ])("to a shop that %s has an unknown outcome, and is never sent again", async (_, reply) => {
    const file = newLedgerFile();
    await using shop = await openShop({ ledger: ledgerIn(file) }, quick);
    shop.replies["orders"] = [reply];
    const result = await shop.runner.call("order_item", ORDER);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(
      /Ask the shop whether the order ([2-9A-Z]{20}) arrived\.\nOnce .*: nexus api settle \1 --happened yes\|no$/,
    );
    expect(textOf(result)).not.toContain("ry again");
    shop.replies["orders"] = [ordered()];
    for (const runner of [shop.runner, shop.open({ ledger: ledgerIn(file) })]) {
      const repeat = await runner.call("order_item", ORDER);
      expect(repeat.isError).toBe(true);
      expect(textOf(repeat)).toMatch(/It is not sent again\.\nAsk the shop/);
    }
    expect(shop.askedFor("orders")).toHaveLength(1);
  });

  test("that was refused may be made again, under the same id", async () => {
    await using shop = await openShop();
    shop.replies["orders"] = [refusing, status(404), ordered()];
    expect(textOf(await shop.runner.call("order_item", ORDER))).toBe("The shop refused: Sold out");
    expect(textOf(await shop.runner.call("order_item", ORDER))).toContain("HTTP 404");
    expect(await shop.runner.call("order_item", ORDER)).toMatchObject({ structuredContent: { total: 3 } });
    const ids = shop.askedFor("orders").map(({ body }) => / id="(\w+)"/.exec(body)?.[1]);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  test("that surely did not arrive may be made again", async () => {
    const file = newLedgerFile();
    const unasked = (text: string) => text.replace(/ {4}confirm:\n(?: {6}.*\n)+/, "");
    // Opened before the other one is closed, whose port it could get.
    await using shop = await openShop({}, unasked);
    await using closed = await openShop();
    const upstream = closed.url;
    await closed[Symbol.asyncDispose]();
    const ledger = ledgerIn(file);
    for (const runner of [shop.open({ upstream, ledger }), shop.open({ upstream, ledger: ledgerIn(file) })]) {
      const result = await runner.call("order_item", ORDER);
      expect(textOf(result)).toBe("Corner shop could not be reached; the request was not sent.\nTry again later.");
    }
    // What a stand-in was asked for says nothing about another.
    await shop.runner.call("order_item", ORDER);
    expect(shop.askedFor("orders")).toHaveLength(1);
  });

  test("is seen through to its end when its caller leaves, and recorded", async () => {
    await using shop = await openShop();
    const stop = new AbortController();
    let finish = () => {};
    shop.replies["orders"] = [
      (asked, response, request) => {
        finish = () => ordered()(asked, response, request);
        stop.abort();
      },
    ];
    const call = shop.runner.call("order_item", ORDER, { signal: stop.signal });
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    const again = shop.runner.call("order_item", ORDER);
    finish();
    expect(await again).toMatchObject({ structuredContent: { total: 3 } });
    expect(shop.askedFor("orders")).toHaveLength(1);
  });

  test("that cannot be recorded is not sent", async () => {
    const broken = {
      find: async () => undefined,
      settle: async () => {},
      begin: () => Promise.reject(new Error("disk full")),
    };
    await using shop = await openShop({ ledger: broken });
    expect(await shop.runner.call("order_item", ORDER)).toMatchObject({ isError: true });
    expect(shop.askedFor("orders")).toEqual([]);
  });

  test("that was held up until others are told that its outcome is not known is not sent", async () => {
    let now = 1_000;
    const ledger = new MemoryWriteLedger({ now: () => now });
    const slow: WriteLedger = {
      find: (key) => ledger.find(key),
      settle: (key, outcome) => ledger.settle(key, outcome),
      begin: async (key, until) => {
        const earlier = await ledger.begin(key, until);
        now += 3_600_000;
        return earlier;
      },
    };
    await using shop = await openShop({ ledger: slow, now: () => now });
    expect(textOf(await shop.runner.call("order_item", ORDER))).toMatch(
      /was paused .* so it was not sent\.\nCall again/,
    );
    expect(shop.askedFor("orders")).toEqual([]);
    const again = shop.open({ ledger, now: () => now });
    expect(await again.call("order_item", ORDER)).toMatchObject({ structuredContent: { total: 3 } });
  });

  test("without a key of its own is sent each time, and never by itself", async () => {
    await using shop = await openShop();
    shop.replies["bell"] = [status(503), status(204)];
    expect(await shop.runner.call("ring_bell", { times: 1 })).toMatchObject({ isError: true });
    expect(shop.askedFor("bell")).toHaveLength(1);
    expect(await shop.runner.call("ring_bell", { times: 1 })).toMatchObject({ structuredContent: {} });
    await shop.runner.call("ring_bell", { times: 1 });
    expect(shop.askedFor("bell")).toHaveLength(3);
  });

  test("is never carried out twice, whatever the shop does and however often it is asked for", async () => {
    const replies: Record<string, Reply> = { ordered: ordered(), cut, refused: refusing, failed: status(500) };
    const behaviour = fc.array(fc.constantFrom(...Object.keys(replies)), { minLength: 1, maxLength: 6 });
    await using shop = await openShop();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        behaviour,
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
        async (names, bursts) => {
          const runner = shop.open();
          const before = shop.askedFor("orders").length;
          shop.replies["orders"] = names.map((name) => replies[name] ?? cut);
          const order = { ...ORDER, reference: `run-${run++}` };
          for (const size of bursts) {
            await Promise.all(Array.from({ length: size }, () => runner.call("order_item", order)));
          }
          const sent = shop.askedFor("orders").length - before;
          const refusals = names.findIndex((name) => name !== "refused");
          // Each call may be refused anew; after the last refusal one more may be sent, and no other.
          expect(sent).toBeLessThanOrEqual(refusals === -1 ? Infinity : refusals + 1);
        },
      ),
      { numRuns: isFull ? 25 : 10 },
    );
  });
});

describe("what the caller expects", () => {
  const answering = (answer: Record<string, unknown>, asked: InputRequests[] = []) => ({
    waits: true,
    ask: async (requests: InputRequests) => {
      asked.push(requests);
      return Object.fromEntries(Object.keys(requests).map((key) => [key, answer]));
    },
  });

  test("is checked by a fresh search; what is no longer there is told", async () => {
    await using shop = await openShop();
    shop.replies["find"] = [found(["coffee", 4])];
    expect(textOf(await shop.runner.call("order_item", ORDER))).toBe("tea is gone.");
    shop.replies["find"] = [status(404)];
    expect(textOf(await shop.runner.call("order_item", ORDER))).toContain(
      "so nothing was changed. Corner shop answered",
    );
    expect(shop.askedFor("orders")).toEqual([]);
  });

  test("and is not true any more is told where the caller cannot be asked, with what is", async () => {
    await using shop = await openShop();
    shop.replies["find"] = [found(["tea", 3.5])];
    const result = await shop.runner.call("order_item", ORDER);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(
      'tea costs 3.5, not 3. Order it? Nothing was changed: only find_items was sent.\nIf that is agreed, call again with "expectedTotal": 3.5.',
    );
    expect(shop.askedFor("orders")).toEqual([]);
  });

  test("is sent as it was confirmed", async () => {
    await using shop = await openShop();
    shop.replies["find"] = [found(["tea", 3.5])];
    const asked: InputRequests[] = [];
    const asking = answering({ action: "accept", content: { confirm: true } }, asked);
    const result = await shop.runner.call("order_item", ORDER, { asking });
    expect(asked).toMatchObject([{ "confirm-3.5": { params: { message: "tea costs 3.5, not 3. Order it?" } } }]);
    expect(result).toMatchObject({ structuredContent: { total: 3.5 } });
    expect(shop.askedFor("orders")[0]?.body).toContain("<total>3.5</total>");
    // The answer took its time: the price is looked at once more.
    expect(shop.askedFor("find")).toHaveLength(2);
    expect(textOf(await shop.runner.call("order_item", ORDER, { asking }))).toContain("already done");
  });

  test("is asked with all words of the file, however long the values in it are", async () => {
    await using shop = await openShop({}, (text) => text.replace("maxLength: 20,", ""));
    const code = "t".repeat(5_000);
    shop.replies["find"] = [found([code, 3.5])];
    const asked: InputRequests[] = [];
    const asking = answering({ action: "decline" }, asked);
    await shop.runner.call("order_item", { ...ORDER, code }, { asking });
    const message: unknown = expect.stringMatching(/^t{100,1000}… costs 3\.5, not 3\. Order it\?$/);
    expect(asked).toMatchObject([{ "confirm-3.5": { params: { message } } }]);
  });

  test("is asked again when it changes while people think, but not for ever", async () => {
    await using shop = await openShop();
    const asked: InputRequests[] = [];
    const asking = answering({ action: "accept", content: { confirm: true } }, asked);
    shop.replies["find"] = [found(["tea", 4]), found(["tea", 5]), found(["tea", 5])];
    expect(await shop.runner.call("order_item", ORDER, { asking })).toMatchObject({ structuredContent: { total: 5 } });
    expect(asked.map((questions) => Object.keys(questions)[0])).toEqual(["confirm-4", "confirm-5"]);
    shop.replies["find"] = [1, 2, 3, 4, 5, 6, 7].map((price) => found(["tea", price * 10]));
    const restless = await shop.runner.call("order_item", { ...ORDER, reference: "b" }, { asking });
    expect(restless.isError).toBe(true);
  });

  test.each([
    { action: "decline" },
    { action: "cancel" },
    { action: "accept", content: { confirm: false } },
    { action: "accept" },
  ])("and is declined (%j) sends nothing", async (answer) => {
    await using shop = await openShop();
    shop.replies["find"] = [found(["tea", 3.5])];
    const result = await shop.runner.call("order_item", ORDER, { asking: answering(answer) });
    expect(textOf(result)).toBe("It was declined. Nothing was changed: only find_items was sent.");
    expect(shop.askedFor("orders")).toEqual([]);
  });
});
