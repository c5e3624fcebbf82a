import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cancellation } from "../../src/async/cancellation.ts";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import { FileWriteLedger } from "../../src/workshop/run/writes/file-write-ledger.ts";
import { gardenApi, openGarden, type Garden } from "./garden-world.ts";

const ORDER = { email: "eve@example.com", lines: [{ sku: "RO101" }, { sku: "TU200" }] };
const RESULT = { orderId: "O-7", customerId: "C-9", isNewCustomer: true, state: "confirmed" };
const api = gardenApi();

let folder = "";
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-steps-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const newLedgerFile = () => join(folder, `${files++}.jsonl`);
const ledgerIn = (file: string) => new FileWriteLedger({ file, platform: process.platform });
const textOf = (result: CallToolResult) => result.content.map(({ text }) => text).join("\n");
const asked = (garden: Garden) => garden.asked.map(({ what }) => what);
const posted = (garden: Garden) => asked(garden).filter((what) => what.startsWith("POST"));

describe("a tool with steps", () => {
  test("makes its requests in order, with what earlier steps gave, and waits for the last", async () => {
    await using garden = await openGarden(api);
    garden.processing = 3;
    const pauses: number[] = [];
    const result = await garden.open({ pause: async (ms) => void pauses.push(ms) }).call("create_order", ORDER);
    expect(result).toMatchObject({ structuredContent: RESULT });
    expect(asked(garden)).toEqual([
      "GET customers",
      "POST customers",
      "POST orders",
      "POST orders/O-7/lines",
      "POST orders/O-7/lines",
      ...Array.from({ length: 4 }, () => "GET orders/O-7"),
    ]);
    expect(garden.asked[2]?.body).toMatchObject({ customer: "C-9" });
    expect(pauses).toEqual([2_000, 2_000, 2_000]);
    expect(result._meta).toMatchObject({
      "dev.nexus/steps": [
        { step: "customers", state: "done" },
        { step: "created", state: "done" },
        { step: "order", state: "done" },
        { step: "lines", state: "done", items: { done: 2, of: 2 } },
        { step: "ready", state: "done" },
      ],
    });
  });

  test("reports its progress and logs each step under one id", async () => {
    await using garden = await openGarden(api);
    const logged: Record<string, unknown>[] = [];
    const note = (message: string, data = {}) => void logged.push({ message, ...data });
    const runner = garden.open({ logger: { debug: note, info: note, warn: note, error: note } });
    const shares: number[] = [];
    const messages: string[] = [];
    const progress = ({ progress: share, message = "" }: { progress: number; message?: string }) => {
      shares.push(share);
      messages.push(message);
    };
    await runner.call("create_order", ORDER, { progress, correlationId: "nx-1" });
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(messages).toContain("Step 3 of 5: order");
    expect(shares.at(-1)).toBe(1);
    expect(new Set(logged.map(({ correlationId }) => correlationId))).toEqual(new Set(["nx-1"]));
    expect(logged.filter(({ message }) => message === "Sending a request").map(({ step }) => step)).toEqual([
      "customers",
      "created",
      "order",
      "lines",
      "lines",
      "ready",
      "ready",
    ]);
  });

  test("stops at a refused step: later steps are not sent, and the same call goes on from there", async () => {
    await using garden = await openGarden(api);
    const file = newLedgerFile();
    garden.refuse.set("POST orders/O-7/lines TU200", 404);
    const result = await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(
      [
        "create_order stopped at the step lines. The shop has no plant TU200.",
        "What became of the steps:",
        "- customers (find_customers): done",
        "- created (create_customer): done",
        "- order (post_order): done",
        "- lines (add_line): 1 of 2 done, then refused, so it was not done",
        "- ready (get_order): not done",
        "Look it up in the catalogue.",
        "The same call again goes on from here: what is done is not sent a second time.",
      ].join("\n"),
    );
    expect(asked(garden)).not.toContain("GET orders/O-7");
    garden.refuse.clear();
    const again = await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    expect(again).toMatchObject({ structuredContent: RESULT });
    expect(textOf(again)).toContain("An earlier run of the same call made: created, order, lines.");
    expect(posted(garden)).toEqual(["POST customers", "POST orders", ...Array(3).fill("POST orders/O-7/lines")]);
    expect(await readFile(file, "utf8")).not.toContain("demo-token");
  });

  test("that changed nothing says so", async () => {
    await using garden = await openGarden(api);
    garden.refuse.set("GET customers", 403);
    const result = await garden.open().call("create_order", ORDER);
    expect(textOf(result)).toMatch(/- customers \(find_customers\): failed\n[^]*Nothing was changed\.$/);
    expect(posted(garden)).toEqual([]);
  });

  test("with an unknown step stays there until a person records the outcome", async () => {
    await using garden = await openGarden(api);
    const file = newLedgerFile();
    garden.refuse.set("POST orders", 503);
    const call = () => garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    const result = await call();
    const [, id] = /- order \(post_order\): the outcome is not known \(id ([2-9A-Z]{20})\)/.exec(textOf(result)) ?? [];
    expect(textOf(result)).toContain(`an order with the key ${id}.`);
    expect(textOf(result)).toContain(`nexus api settle ${id} --happened yes|no`);
    garden.refuse.clear();
    expect(textOf(await call())).toContain("It is not sent again.");
    expect(posted(garden)).toEqual(["POST customers", "POST orders"]);
    const ledger = ledgerIn(file);
    const [unknown] = await ledger.unknown();
    expect(unknown).toMatchObject({ tool: "create_order, step order (post_order)" });
    await ledger.resolve(unknown?.key ?? "", { kind: "refused" });
    expect(await call()).toMatchObject({ structuredContent: RESULT });
    expect(garden.asked.filter(({ what }) => what === "POST orders").map(({ body }) => body["idempotencyKey"])).toEqual(
      [id, id],
    );
  });

  test("does not go on with the answer of a step that a person confirmed, because it is not known", async () => {
    await using garden = await openGarden(api);
    const file = newLedgerFile();
    garden.refuse.set("POST orders", 503);
    await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    const ledger = ledgerIn(file);
    const [unknown] = await ledger.unknown();
    await ledger.resolve(unknown?.key ?? "", { kind: "done", result: { content: [], isError: true } });
    const result = await garden.open({ ledger }).call("create_order", ORDER);
    expect(textOf(result)).toContain(
      "stopped at the step lines. It needs the answer of the step order, which a person",
    );
    expect(posted(garden)).toEqual(["POST customers", "POST orders"]);
  });

  test("that is finished gives its result again; another reference is another order", async () => {
    await using garden = await openGarden(api);
    const runner = garden.open();
    const first = await runner.call("create_order", ORDER);
    const again = await runner.call("create_order", ORDER);
    expect(textOf(again)).toMatch(/^This was already done at .* Nothing was sent again/);
    expect(again.structuredContent).toEqual(first.structuredContent);
    const count = garden.asked.length;
    expect(await runner.call("create_order", { ...ORDER, reference: "2" })).toMatchObject({
      structuredContent: RESULT,
    });
    expect(garden.asked.length).toBe(count * 2 - 1);
  });

  test("that is called several times at once runs once for all of them", async () => {
    await using garden = await openGarden(api);
    const runner = garden.open();
    const results = await Promise.all(Array.from({ length: 5 }, () => runner.call("create_order", ORDER)));
    for (const result of results) expect(result).toMatchObject({ structuredContent: RESULT });
    expect(posted(garden)).toHaveLength(4);
  });

  test("that another process is running is not made a second time", async () => {
    await using garden = await openGarden(api);
    const file = newLedgerFile();
    let second: CallToolResult | undefined;
    garden.onMoment = async (moment, { what }) => {
      if (moment === "done" && what === "POST orders" && !second) {
        second = await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
      }
      return true;
    };
    const first = await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    expect(first).toMatchObject({ structuredContent: RESULT });
    expect(textOf(second ?? { content: [] })).toContain("- order (post_order): running in another process");
    expect(posted(garden)).toHaveLength(4);
  });

  test("that is cancelled completes and records the write that is being sent, and sends no other", async () => {
    await using garden = await openGarden(api);
    const file = newLedgerFile();
    const signal = new Cancellation();
    garden.onMoment = (moment, { what }) => {
      if (moment === "arrived" && what === "POST orders") signal.abort(new Error("enough"));
      return true;
    };
    const runner = garden.open({ ledger: ledgerIn(file) });
    await expect(runner.call("create_order", ORDER, { signal })).rejects.toMatchObject({ code: "CANCELLED" });
    garden.onMoment = () => true;
    expect(await runner.call("create_order", ORDER)).toMatchObject({ structuredContent: RESULT });
    const sent = ["GET customers", "POST customers", "POST orders"];
    const afterwards = ["GET customers", "POST orders/O-7/lines", "POST orders/O-7/lines"];
    expect(asked(garden).slice(0, 6)).toEqual([...sent, ...afterwards]);
  });

  test("goes on for the others if one of several callers leaves", async () => {
    await using garden = await openGarden(api);
    const runner = garden.open();
    const signal = new Cancellation();
    garden.onMoment = (_, { what }) => {
      if (what === "POST orders") signal.abort(new Error("enough"));
      return true;
    };
    const leaving = runner.call("create_order", ORDER, { signal });
    const staying = runner.call("create_order", ORDER);
    await expect(leaving).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await staying).toMatchObject({ structuredContent: RESULT });
  });

  test("gives up waiting after the time of its step, and goes on waiting when it is called again", async () => {
    await using garden = await openGarden(api);
    garden.processing = 31;
    const runner = garden.open();
    const result = await runner.call("create_order", ORDER);
    expect(textOf(result)).toContain("stopped at the step ready. It was not finished after 60 s.");
    expect(asked(garden).filter((what) => what === "GET orders/O-7")).toHaveLength(31);
    expect(await runner.call("create_order", ORDER)).toMatchObject({ structuredContent: RESULT });
    expect(posted(garden)).toHaveLength(4);
  });

  test("has one time limit for all steps", async () => {
    await using garden = await openGarden(api);
    let now = Date.UTC(2026, 0, 1);
    garden.onMoment = (_, { what }) => {
      if (what === "POST orders") now += 121_000;
      return true;
    };
    const result = await garden.open({ now: () => now }).call("create_order", ORDER);
    expect(textOf(result)).toContain("stopped at the step lines. The time limit of 120 s for all steps is reached.");
    expect(posted(garden)).toEqual(["POST customers", "POST orders"]);
  });

  test("refuses a list that is too long before anything is sent", async () => {
    const short = gardenApi((text) => text.replace("max: 10\n", "max: 1\n"));
    await using garden = await openGarden(short);
    const result = await garden.open().call("create_order", ORDER);
    expect(textOf(result)).toContain("There are 2 items, and at most 1 are allowed in one call.");
    expect(garden.asked).toEqual([]);
  });

  test("checks all items before it sends the first", async () => {
    const strict = gardenApi((text) =>
      text.replace(
        "sku: { type: string }\n      units: { type: integer }",
        "sku: { type: string, enum: [RO101] }\n      units: { type: integer }",
      ),
    );
    await using garden = await openGarden(strict);
    const result = await garden.open().call("create_order", ORDER);
    expect(textOf(result)).toContain("stopped at the step lines. Item 2: Its arguments for add_line are not valid");
    expect(posted(garden)).toEqual(["POST customers", "POST orders"]);
  });

  test("does not continue with items that are not those of its first run", async () => {
    const prices = gardenApi((text) =>
      text
        .replace("each: input.lines", "each: customers.items")
        .replace('sku: "= line.sku", units: "= line.units"', 'sku: "= line.id", units: 1'),
    );
    await using garden = await openGarden(prices);
    const file = newLedgerFile();
    garden.customers = [
      { id: "A", email: "x" },
      { id: "B", email: "x" },
    ];
    garden.refuse.set("POST orders/O-7/lines B", 404);
    await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    garden.refuse.clear();
    garden.customers.reverse();
    const again = await garden.open({ ledger: ledgerIn(file) }).call("create_order", ORDER);
    expect(textOf(again)).toContain("sent this item with other arguments, so the list has changed since.");
    expect(garden.written.filter(({ what }) => what.endsWith("lines")).map(({ body }) => body["sku"])).toEqual(["A"]);
  });
});
