import { expect, test } from "vitest";
import type { InputRequests } from "../../src/server/features/call-context.ts";
import { found, openShop, SECRETS, xml } from "./shop-world.ts";

const PASSWORD = "a-long-secret-of-27-letters";
const secrets = async (name: string) => (name === "shop.password" ? PASSWORD : SECRETS[name]);
const json = (file: string) => file.replace("as: xml, type: Found", "as: json, type: Found");

test("a secret at the end of what is shown of a deviation is not shown in part (X9)", async () => {
  await using shop = await openShop({ secrets });
  for (const before of [175, 185, 199]) {
    shop.replies["find"] = [
      xml(`<found xmlns="urn:shop"><items/><strange>${"x".repeat(before)}${PASSWORD} and more</strange></found>`),
    ];
    const result = await shop.runner.call("find_items", { text: "tea" });
    expect(result.isError).toBeUndefined();
    expect(JSON.stringify(result)).toContain("xxx");
    expect(JSON.stringify([result, shop.logged])).not.toContain(PASSWORD.slice(0, 6));
  }
});

test("a secret that comes in two values is not put together in the text of a result (X9)", async () => {
  const [first, rest] = [PASSWORD.slice(0, 10), PASSWORD.slice(10)];
  await using shop = await openShop({ secrets }, (file) =>
    file
      .replace(`that: error != null, say: "The shop says`, `that: count == 7, say: "The shop says`)
      .replace("Found {count} items for {input.text}.", "Note {note}{error}."),
  );
  shop.replies["find"] = [xml(`<found xmlns="urn:shop"><items/><note>${first}</note><error>${rest}</error></found>`)];
  const result = await shop.runner.call("find_items", { text: "tea" });
  expect(result.content[0]).toMatchObject({ text: "Note •••." });
});

test("a secret that comes in two values is not put together in a question (X9)", async () => {
  await using shop = await openShop({ secrets }, (file) =>
    file.replace("{input.code} costs", "{found.code}{input.reference} costs"),
  );
  shop.replies["find"] = [found(["a-long-secret", 4])];
  const asked: InputRequests[] = [];
  const ask = async (requests: InputRequests) => {
    asked.push(requests);
    return {};
  };
  const order = { code: "a-long-secret", reference: "-of-27-letters", expectedTotal: 3 };
  await shop.runner.call("order_item", order, { asking: { ask, waits: false } });
  expect(JSON.stringify(asked)).toContain("••• costs 4");
});

test("a secret in JSON that cannot be read is not shown in part (X9)", async () => {
  await using shop = await openShop({ secrets }, json);
  shop.replies["find"] = [xml(`{"error": "${PASSWORD}" oops}`), xml(`{"error": ${PASSWORD}}`), xml(PASSWORD)];
  for (let call = 0; call < 3; call++) {
    const result = await shop.runner.call("find_items", { text: "tea" });
    expect(result.isError).toBe(true);
    expect(JSON.stringify([result, shop.logged])).not.toMatch(/a-long|letters/);
  }
});

test("a secret that the shop puts into the type of its answer is hidden (X9)", async () => {
  await using shop = await openShop({ secrets });
  shop.replies["find"] = [
    (_, response) =>
      response
        .writeHead(200, PASSWORD, { "content-type": `application/xml; for=${PASSWORD}`, "x-for": PASSWORD })
        .end(`<found xmlns="urn:shop"><items/></found>`),
  ];
  const result = await shop.runner.call("find_items", { text: "tea", includeSourcePayload: true });
  expect(JSON.stringify(result)).toContain("application/xml");
  expect(JSON.stringify([result, shop.logged])).not.toContain(PASSWORD);
});

test("a secret that the shop repeats is not in the question whether to go on (X9)", async () => {
  await using shop = await openShop({ secrets }, (file) =>
    file.replace("{input.code} costs", "{found.code} costs").replace("maxLength: 20", "maxLength: 40"),
  );
  shop.replies["find"] = [found([PASSWORD, 4])];
  const asked: InputRequests[] = [];
  const ask = async (requests: InputRequests) => {
    asked.push(requests);
    return {};
  };
  const order = { code: PASSWORD, expectedTotal: 3 };
  const result = await shop.runner.call("order_item", order, { asking: { ask, waits: false } });
  expect(asked).toHaveLength(1);
  expect(JSON.stringify([asked, result, shop.logged])).not.toContain(PASSWORD);
});

test.each([
  ["with a line break inside", "4711\r\nX-Other: 1"],
  ["with a line break at its end", "471147\n"],
  ["with an umlaut", "pässwort"],
  ["with a character of no European alphabet", "密码密码密码"],
  ["with a zero", "4711\u0000"],
])("a secret %s, which a header cannot hold, is told by its name and sent nowhere (X8, X9)", async (_, value) => {
  await using shop = await openShop({ secrets: async (name) => (name === "shop.pin-1" ? value : SECRETS[name]) });
  const result = await shop.runner.call("order_item", { code: "tea", expectedTotal: 3 });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain("shop.pin-1");
  expect(JSON.stringify([result, shop.logged])).not.toContain(value.trim().slice(0, 4));
  expect(shop.askedFor("orders")).toEqual([]);
});

const PIN = { secrets: async (name: string) => (name === "shop.pin-1" ? "675" : SECRETS[name]) };

test("a short secret hides no price, no argument and no word of the tool file: that would ruin them, and tell it (X9)", async () => {
  await using shop = await openShop(PIN, (file) =>
    file
      .replace(
        "{input.code} costs {actual}, not",
        "Rule 675: {found.code}, {input.reference}, costs {actual} ({found.price}), not",
      )
      .replace("Ordered {orderId} for {total}.", "Ordered {input.code} for {total} by 675."),
  );
  shop.replies["find"] = [found(["bike 675", 675], ["675", 675.5])];
  const asked: InputRequests[] = [];
  const ask = async (requests: InputRequests) => {
    asked.push(requests);
    return Object.fromEntries(
      Object.keys(requests).map((key) => [key, { action: "accept", content: { confirm: true } }]),
    );
  };
  const asking = { ask, waits: false } as const;
  const order = { code: "bike 675", expectedTotal: 3, reference: "for 675" };
  const result = await shop.runner.call("order_item", order, { asking });
  expect(JSON.stringify(asked)).toContain("Rule 675: bike 675, for 675, costs 675 (675), not 3.");
  expect(JSON.stringify(result)).toContain("Ordered bike 675 for 675 by 675.");
  expect(JSON.stringify([asked, result])).not.toContain("•••");
  const search = await shop.runner.call("find_items", { text: "675" });
  expect(search).toMatchObject({
    structuredContent: { asked: "675", items: [{ price: 675 }, { code: "675", price: 675.5 }] },
  });
  expect(JSON.stringify(search)).toContain("Found 2 items for 675.");
});

test("a short secret is hidden in what upstream writes freely, and where the answer is not as declared (X9)", async () => {
  await using shop = await openShop(PIN);
  shop.replies["find"] = [found(["bike", 3])];
  shop.replies["orders"] = [
    xml(`<ordered xmlns="urn:shop"><error>PIN 675 is wrong</error></ordered>`),
    xml(`<ordered xmlns="urn:shop" id="by 675"><accepted/><strange>675</strange></ordered>`),
    (_, response) => response.writeHead(403).end("no access with 675"),
  ];
  const seen: unknown[] = [];
  for (const reference of ["a", "b", "c"]) {
    seen.push(
      await shop.runner.call("order_item", { code: "bike", expectedTotal: 3, reference, includeSourcePayload: true }),
    );
  }
  expect(JSON.stringify(seen)).toMatch(/PIN ••• is wrong.*by •••.*no access with •••/s);
  // A random id may contain the same digits.
  expect(JSON.stringify([seen, shop.logged]).replace(/nx-[0-9a-f]+/g, "")).not.toContain("675");
});
