import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import { exampleFile } from "../fixtures/workshop/example.ts";

let fake: Fake;

beforeAll(async () => {
  fake = await startFake(await exampleFile("museum"));
});

afterAll(() => fake.close());

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; json: unknown }> {
  const response = await fetch(new URL(path, fake.url), init);
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

const ORDER = {
  exhibition: "kelten-2026",
  date: "2026-05-02",
  visitors: { adult: 2, reduced: 1 },
  contact: { name: "A. Guest", mail: "guest@example.com" },
};

function order(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      "content-type": "application/json",
      authorization: "Bearer demo-token",
      "idempotency-key": "K-1",
      ...headers,
    },
  };
}

describe("the museum's fake", () => {
  test("takes lists repeated and with commas, and answers as the manual prints it", async () => {
    const { status, json } = await ask("exhibitions?on=2026-05-02&tag=salt&tag=silver&museum=7,8&page=1");
    expect(status).toBe(200);
    expect(json).toEqual({
      page: { number: 1 },
      exhibitions: [
        {
          id: "kelten-2026",
          museum: 7,
          title: "The Celts and their salt",
          dates: { from: "2026-03-01", until: "2026-10-31" },
          tags: ["history", "salt"],
          price: { adult: 12, reduced: 6.5 },
        },
      ],
    });
    expect(fake.requests.at(-1)?.input).toEqual({
      on: "2026-05-02",
      tags: ["salt", "silver"],
      museums: [7, 8],
      page: 1,
      language: "english",
    });
  });

  test.each([
    ["exhibitions?tag=a&tag=b&tag=c&tag=d&tag=e&tag=f", "tags"],
    ["exhibitions?museum=7,x", "museums"],
    ["exhibitions?page=0", "page"],
    ["exhibitions?page=1&page=2", "page"],
    ["exhibitions?on=yesterday", "on"],
    ["exhibitions?color=red", "color"],
    ["museums/0/hours/2026-05-02", "museumId"],
    ["museums/7/hours/2026-05-32", "date"],
  ])("%s is refused with 400, naming %s", async (path, field) => {
    expect(await ask(path)).toEqual({
      status: 400,
      json: { error: { code: "invalid", message: expect.stringContaining(field) } },
    });
  });

  test("the language is a header, and only the two of the manual are taken", async () => {
    const german = await ask("museums/7/hours/2026-05-04", { headers: { "x-visitor-language": "de" } });
    expect(german).toEqual({ status: 200, json: { note: "Closed" } });
    expect(fake.requests.at(-1)?.input).toMatchObject({ museumId: 7, date: "2026-05-04", language: "german" });
    const french = await ask("museums/7/hours/2026-05-04", { headers: { "x-visitor-language": "fr" } });
    expect(french.status).toBe(400);
  });

  test("orders are JSON, with a token and a key; what breaks a rule is named", async () => {
    const path = "museums/7/orders";
    expect(await ask(path, order(ORDER))).toEqual({ status: 201, json: { order: { id: "T-1001", total: 30.5 } } });
    expect(await ask(path, order(ORDER, { authorization: "Bearer other" }))).toMatchObject({ status: 401 });
    expect(await ask(path, order(ORDER, { "content-type": "text/plain" }))).toMatchObject({ status: 400 });
    const { "idempotency-key": _, ...headers } = order(ORDER).headers as Record<string, string>;
    expect(await ask(path, { ...order(ORDER), headers })).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining("orderKey") } },
    });
    const wrong: [object, string][] = [
      [{ ...ORDER, visitors: { adult: 0, reduced: 1 } }, "adults"],
      [{ ...ORDER, visitors: { adult: 7, reduced: 6 } }, "at most 12 visitors"],
      [{ ...ORDER, coupon: "X" }, "coupon"],
      [{ ...ORDER, contact: {} }, "contact"],
      [{ ...ORDER, date: 20260502 }, "date"],
    ];
    for (const [body, named] of wrong) {
      expect(await ask(path, order(body))).toMatchObject({
        status: 400,
        json: { error: { message: expect.stringContaining(named) } },
      });
    }
    expect(await ask(path, order({ ...ORDER, date: "2026-05-01" }))).toMatchObject({ status: 409 });
  });

  test("cancelling answers with nothing; other addresses and methods are not there", async () => {
    const headers = { authorization: "Bearer demo-token" };
    expect(await ask("orders/T-1001", { method: "DELETE", headers })).toEqual({ status: 204, json: undefined });
    expect(await ask("orders/T-9", { method: "DELETE", headers })).toMatchObject({ status: 404 });
    expect((await fetch(new URL("orders/T-1001", fake.url))).status).toBe(405);
    expect((await fetch(new URL("nowhere", fake.url))).status).toBe(404);
  });

  test("what is answered without a word in the file is made up from the types, always the same", async () => {
    const file = await exampleFile("museum");
    await using plain = await startFake({ ...file, fake: { secrets: {}, tables: {}, tools: {} } });
    const get = async (path: string) => (await fetch(new URL(path, plain.url))).text();
    const once = await get("exhibitions?tag=salt");
    expect(JSON.parse(once)).toMatchObject({ exhibitions: [{ museum: 1, dates: { from: "2026-01-01" } }] });
    expect(await get("exhibitions?tag=salt")).toBe(once);
    expect(plain.secrets).toEqual({ token: "demo-token" });
    const bad = await fetch(new URL("exhibitions?page=0", plain.url));
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining("page")]);
    const cancelled = await fetch(new URL("orders/T-1", plain.url), {
      method: "DELETE",
      headers: { authorization: "Bearer demo-token" },
    });
    expect(cancelled.status).toBe(204);
  });
});
