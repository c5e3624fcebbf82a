import { expect, test } from "vitest";
import { openShop, type Reply } from "./shop-world.ts";

/** The shop's search with a JSON answer; `response` and `item` are further words for the answer and its items. */
const inJson =
  ({ response = "", item = "" } = {}) =>
  (file: string) =>
    file
      .replace("as: xml, type: Found", `as: json, type: Found${response}`)
      .replace('{ wire: "items/item[]", list: Item }', "{ list: Item }")
      .replace('code: { wire: "@code", type: string }', `code: { type: string }${item}`)
      .replace("retries: 2, result: 1kB", "retries: 2, result: 16kB");

function json(text: string): Reply {
  return (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(text);
}

const invoices = Array.from({ length: 100 }, (_, index) => ({
  code: `invoice-${index}`,
  price: index + 0.5,
  links: { self: `https://shop.example/api/invoices/${index}` },
  "p&ss w+rd/ö": "p&ss w+rd/ö",
}));
const answer = JSON.stringify({ items: invoices, page: 1 });

test("X3: members of a JSON answer that no type names are ignored: a hundred invoices are a hundred invoices", async () => {
  await using shop = await openShop({}, inJson());
  shop.replies["find"] = [json(answer)];
  const { structuredContent, content } = await shop.runner.call("find_items", { text: "tea" });
  expect(structuredContent?.["items"]).toEqual(invoices.map(({ code, price }) => ({ code, price })));
  expect(structuredContent).not.toHaveProperty("deviations");
  expect(JSON.stringify(content)).not.toContain("documented");
});

test("X3: with unknown: keep they are in the result, without secrets", async () => {
  await using shop = await openShop({}, inJson({ response: ", unknown: keep" }));
  shop.replies["find"] = [json(JSON.stringify({ items: invoices.slice(0, 1), page: 1 }))];
  const { structuredContent } = await shop.runner.call("find_items", { text: "tea" });
  expect(structuredContent).toMatchObject({
    items: [{ code: "invoice-0", links: { self: "https://shop.example/api/invoices/0" }, "•••": "•••" }],
    page: 1,
  });
});

test("X3: with unknown: report they are deviations, which never take room from the data", async () => {
  await using shop = await openShop({}, inJson({ response: ", unknown: report" }));
  shop.replies["find"] = [json(answer)];
  const result = await shop.runner.call("find_items", { text: "tea" });
  const { items, deviations } = result.structuredContent as { items: unknown[]; deviations: unknown[] };
  expect(items).toHaveLength(100);
  expect(deviations.length).toBeGreaterThan(20);
  expect(Buffer.byteLength(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(16 * 1024);
  expect(JSON.stringify(result.content)).toMatch(/201 places: see deviations.*excerpt \(\d+ of 201 in deviations\)/);
});

test("X3: a number that no double holds arrives as its digits, and an argument that is not exact is refused", async () => {
  await using shop = await openShop({}, inJson({ item: "\n      size: { type: number, optional: true }" }));
  shop.replies["find"] = [json(`{"items":[{"code":9007199254740993,"price":1,"size":9007199254740993}]}`)];
  const { structuredContent } = await shop.runner.call("find_items", { text: "tea" });
  expect(structuredContent).toMatchObject({
    items: [{ code: "9007199254740993", price: 1 }],
    deviations: [{ path: "items[0].size", received: "9007199254740993" }],
  });
  // As it is parsed from JSON, which has rounded it already.
  const args: unknown = JSON.parse(`{"code":"tea","expectedTotal":9007199254740993}`);
  const refused = await shop.runner.call("order_item", args);
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.content)).toContain("expectedTotal: too large to be exact");
  expect(shop.askedFor("orders")).toEqual([]);
});
