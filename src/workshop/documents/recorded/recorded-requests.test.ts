import { expect, test } from "vitest";
import { readPostman } from "../postman/read-postman.ts";
import { parseDocument } from "../parse-document.ts";
import { draftToolFile, type Draft } from "../../draft/draft-tool-file.ts";

const TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.placeholder";

function draftOf(text: string): { draft: Draft; kept: string; remarks: string[] } {
  const document = parseDocument(text, "requests");
  const documents = { requests: { file: "requests.json", sha256: document.sha256 } };
  const draft = draftToolFile(readPostman(document), { api: "shop", documents });
  expect(draft.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  return { draft, kept: document.text, remarks: document.remarks };
}

test("X5 a script with several curl commands becomes a tool for each, named by its comment", () => {
  const { draft, kept, remarks } = draftOf(`#!/bin/sh
BASE=https://api.shop.example/v1
export API_TOKEN=${TOKEN}

# Find orders
# Newest first.
curl -s "$BASE/orders?limit=10" \\
  -H "Authorization: Bearer $API_TOKEN" | jq .

# Create an order
curl -X POST "$BASE/orders" -H "Authorization: Bearer ${TOKEN}" \\
  --json '{"customer": "c1",
    "lines": [{"sku": "a", "count": 2}], "password": "hunter2-very-secret"}'

echo "done"; rm -rf "$HOME/nothing"
curl "$BASE/orders/$ORDER_ID"
`);
  expect(draft.tools.map(({ name, operation, effect }) => [name, operation, effect])).toEqual([
    ["find_orders", "GET /orders", "read"],
    ["create_an_order", "POST /orders", "write"],
    ["get_orders_by_order_id", "GET /orders/{ORDER_ID}", "read"],
  ]);
  expect(draft.file?.upstream.base).toBe("https://api.shop.example/v1/");
  expect(draft.text).toContain("Newest first.");
  expect(Object.values(draft.file?.secrets ?? {})).toHaveLength(1);
  for (const text of [draft.text, kept]) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("rm -rf");
  }
  expect(remarks[0]).toContain("credentials are variables");
  expect(parseDocument(kept, "requests").text).toBe(kept);
});

test("X5 shell text in a curl command is only text", () => {
  const { draft, kept } = draftOf(
    "curl 'https://api.shop.example/items?q=$(touch /tmp/nothing)' -H \"X-Note: `id`\"\ncurl https://api.shop.example/b;id\n",
  );
  expect(draft.tools).toHaveLength(2);
  expect(kept).toContain("$(touch /tmp/nothing)");
});

test("X5 commands with quotes that do not end, or that are too long, are left out with the reason", () => {
  const long = `curl https://api.shop.example/big -d '${"x".repeat(10_000_000)}'`;
  const started = performance.now();
  const { draft, remarks } = draftOf(
    `# first\ncurl https://api.shop.example/a\n${long}\ncurl https://api.shop.example/b -d "{'never\n# last\ncurl https://api.shop.example/c\n`,
  );
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(draft.tools.map(({ name }) => name)).toEqual(["first", "last"]);
  expect(remarks).toEqual(
    expect.arrayContaining([
      expect.stringContaining("line 4 do not end"),
      expect.stringMatching(/line 3 was left out: The command is longer than 1 MB/),
    ]),
  );
  expect(() => parseDocument("curl 'https://api.shop.example/a", "requests")).toThrow("no curl command");
});

interface Recorded {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  status?: number;
  type?: string;
  answer?: unknown;
  kind?: string;
}

function har(entries: readonly Recorded[]): string {
  const list = entries.map(({ url, method = "GET", headers = {}, body, status = 200, type, answer, kind }) => ({
    ...(kind !== undefined && { _resourceType: kind }),
    request: {
      method,
      url,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      ...(body !== undefined && { postData: { mimeType: "application/json", text: JSON.stringify(body) } }),
    },
    response: {
      status,
      content: {
        mimeType: type ?? "application/json; charset=utf-8",
        text: answer === undefined ? "" : JSON.stringify(answer),
      },
    },
  }));
  return JSON.stringify({ log: { version: "1.2", entries: list } });
}

const API = "https://api.shop.example/v1";
const LOGIN = { Authorization: `Bearer ${TOKEN}`, Cookie: "sessionid=s3cr3t-cookie; _ga=GA1.2.3" };

test("X5 a recording becomes a tool for each method and path, with types from its answers", () => {
  const { draft, kept, remarks } = draftOf(
    har([
      { url: "https://shop.example/", type: "text/html", kind: "document" },
      { url: "https://shop.example/app.js", type: "text/javascript" },
      { url: "https://tracker.example/collect?uid=77", method: "POST", body: { page: "/" } },
      { url: `${API}/orders`, method: "OPTIONS", status: 204 },
      {
        url: `${API}/orders?limit=2&q=Ada+Lovelace`,
        headers: LOGIN,
        answer: { items: [{ id: 1, name: "Ada Lovelace" }] },
      },
      { url: `${API}/orders/1`, headers: LOGIN, answer: { id: 1, placed: "2026-01-02T03:04:05Z", note: null } },
      {
        url: `${API}/orders/2`,
        headers: LOGIN,
        answer: { id: 2, placed: "2026-01-03T03:04:05Z", note: "gift", total: 1.5 },
      },
      { url: `${API}/shops/graz`, headers: LOGIN, answer: { city: "Graz" } },
      { url: `${API}/shops/linz`, headers: LOGIN, answer: { city: "Linz" } },
      { url: `${API}/shops/wien`, headers: LOGIN, answer: { city: "Wien" } },
      { url: `${API}/users/me`, headers: LOGIN, answer: { email: "ada@example.com" } },
      { url: `${API}/users/all`, headers: LOGIN, answer: { list: [] } },
      {
        url: `${API}/orders`,
        method: "POST",
        headers: LOGIN,
        body: { customer: "Ada", token: TOKEN },
        status: 201,
        answer: { id: 3 },
      },
    ]),
  );
  expect(draft.tools.map(({ operation }) => operation)).toEqual([
    "GET /v1/orders",
    "GET /v1/orders/{orderId}",
    "GET /v1/shops/{shopId}",
    "GET /v1/users/me",
    "GET /v1/users/all",
    "POST /v1/orders",
  ]);
  const { file } = draft;
  const answer = file?.types[file.tools["get_orders_by_order_id"]?.response.type ?? ""]?.fields;
  expect(answer).toMatchObject({
    id: { shape: { type: "number" } },
    placed: { shape: { type: "datetime" } },
    note: { shape: { type: "string" } },
    total: { shape: { type: "number" } },
  });
  expect(Object.values(file?.secrets ?? {})[0]).toMatchObject({ bearer: expect.any(String) });
  for (const value of [TOKEN, "s3cr3t-cookie", "Lovelace", "ada@example.com", "Wien"]) {
    expect(draft.text).not.toContain(value);
    expect(kept).not.toContain(value);
  }
  expect(remarks).toEqual(
    expect.arrayContaining([
      expect.stringContaining("names and types only"),
      expect.stringContaining("another host (tracker.example)"),
      expect.stringContaining("preflights"),
      expect.stringContaining("files of a page"),
    ]),
  );
  expect(parseDocument(kept, "requests").text).toBe(kept);
});

test("X5 a recording without requests of an API is refused with what to do", () => {
  expect(() => parseDocument(har([{ url: "https://shop.example/a.png", type: "image/png" }]), "recording")).toThrow(
    "has no request of an API",
  );
});

test("X5 values that are often credentials are not kept, wherever a command has them", () => {
  const { draft, kept } = draftOf(`AUTH=leak-a
LOGIN=https://who:leak-b@api.shop.example/
curl "https://who:leak@leak-c@api.shop.example/orders?key=leak-d&pwd=leak-e&sig=leak-f&limit=5" -H "X-Auth: leak-g" -H "X-Session-Token: leak-h"
curl -X POST https://api.shop.example/login -d '{"user": "ada", "password": 4711001, "pin": "leak-i", "inner": {"credentials": "leak-j"}}'
curl who:leak-k@api.shop.example/who
curl https://api.shop.example/bot12345:leak-abcdefghijklmnopqrstuvw/getMe
curl https://api.shop.example/hooks/leakA1b2C3d4E5f6G7h8I9j0 -d 'pass=leak-l'
curl https://api.shop.example/xml -H 'content-type: text/xml' -d '<login><pin>leak-m</pin></login>'
`);
  for (const text of [draft.text, kept]) {
    expect(text).not.toMatch(/leak/i);
    expect(text).not.toContain("4711001");
  }
  expect(kept).toContain('"5"');
  expect(draft.file?.upstream.base).toBe("https://api.shop.example/");
});

test("X5 tokens in paths and in names of members of a recording are not kept", () => {
  const entry = (url: string, answer: object) => ({
    request: { method: "GET", url, headers: [] },
    response: { status: 200, content: { mimeType: "application/json", text: JSON.stringify(answer) } },
  });
  const entries = [
    entry("https://api.shop.example/bot12345:leak-abcdefghijklmnopqrstuvw/me", { ok: true }),
    entry("https://api.shop.example/orders", { byToken: { [TOKEN]: 1, plain: 2 } }),
  ];
  const { draft, kept } = draftOf(JSON.stringify({ log: { version: "1.2", entries } }));
  expect(draft.tools).toHaveLength(2);
  for (const text of [draft.text, kept]) {
    expect(text).not.toContain("leak");
    expect(text).not.toContain(TOKEN);
    expect(text).toContain("plain");
  }
});
