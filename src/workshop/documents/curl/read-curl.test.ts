import fc from "fast-check";
import { expect, test } from "vitest";
import { readCurlCommand } from "../recorded/curl-request.ts";
import { readCurl } from "./read-curl.ts";
import { shellWords } from "../recorded/curl-request.ts";

test.each<[string, string[]]>([
  [`curl 'a b' "c \\"d\\"" e\\ f`, ["curl", "a b", 'c "d"', "e f"]],
  ["curl \\\n  -X POST \\\r\n  x", ["curl", "-X", "POST", "x"]],
  [`curl ^\n "https://a/?x=1^&y=2"`, ["curl", "https://a/?x=1^&y=2"]],
  ["curl https://a/?x=1^&y=2", ["curl", "https://a/?x=1&y=2"]],
  [`curl --data-raw $'it\\'s \\u0041\\n'`, ["curl", "--data-raw", "it's A\n"]],
  [`curl -H "A: $TOKEN" -H 'B: $x' -H "C: \${Y}"`, ["curl", "-H", "A: {{TOKEN}}", "-H", "B: $x", "-H", "C: {{Y}}"]],
  ["curl https://a | jq .", ["curl", "https://a"]],
  ["curl https://a/?x=1&y=2 && rm x", ["curl", "https://a/?x=1&y=2"]],
  ["curl https://a > out.json", ["curl", "https://a"]],
])("the words of %j are as a shell splits them", (command, words) => {
  expect(shellWords(command)).toEqual(words);
});

test.each<[string, object]>([
  ["curl https://api.example/a", { method: "GET", body: { kind: "none" } }],
  ["curl -XDELETE https://api.example/a", { method: "DELETE" }],
  ["curl -sS -I --url https://api.example/a", { method: "HEAD", url: "https://api.example/a" }],
  ["curl https://a -d a=1 -d b=2", { method: "POST", body: { kind: "form", text: "a=1&b=2" } }],
  ["curl https://a --data-urlencode 'a=x y'", { body: { kind: "form", text: "a=x%20y" } }],
  ["curl -G https://a?z=1 -d a=1", { method: "GET", url: "https://a?z=1&a=1" }],
  [`curl https://a --json '{"a":1}'`, { method: "POST", body: { kind: "text", isJson: true } }],
  [`curl https://a -H 'Content-Type: text/csv' --data-binary 'a,b'`, { body: { kind: "text", isJson: false } }],
  ["curl -T photo.png https://a", { method: "PUT", body: { kind: "file" } }],
  ["curl -d @body.json https://a", { method: "POST", body: { kind: "file" } }],
  ["curl -u me:secret -L --compressed --max-time 5 https://a", { hasUser: true, url: "https://a" }],
  [
    "curl https://a -b 'x=1; y=2' -H 'Cookie: z=3'",
    {
      cookies: [
        ["x", "1"],
        ["y", "2"],
        ["z", "3"],
      ],
    },
  ],
  ["$ curl --request=PATCH https://a", { method: "PATCH" }],
])("the command %s is understood", (command, expected) => {
  expect(readCurlCommand(command)).toMatchObject(expected);
});

test("a form with a file is understood", () => {
  const { body } = readCurlCommand(`curl https://a -F 'file=@a.png;type=image/png' -F title=x --form-string 'raw=@x'`);
  expect(body).toEqual({
    kind: "parts",
    parts: [
      { name: "file", value: "", isFile: true, contentType: "image/png" },
      { name: "title", value: "x", isFile: false, contentType: undefined },
      { name: "raw", value: "@x", isFile: false, contentType: undefined },
    ],
  });
});

test.each([
  ["wget https://a", "not a curl command"],
  ["curl -X POST", "names no address"],
  ["", "not a curl command"],
])("the command %j is refused", (command, message) => {
  expect(() => readCurlCommand(command)).toThrow(message);
});

const BROWSER = `curl 'https://shop.example/api/v2/orders/17/lines?limit=20&api_key=s3cr3t-k3y' \\
  -H 'accept: application/json' \\
  -H 'accept-language: de' \\
  -H 'authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.s3cr3t' \\
  -H 'content-type: application/json' \\
  -H 'x-tenant: blue' \\
  -H 'x-auth-token: s3cr3t-token' \\
  -b 'sid=s3cr3t-session' \\
  -H 'sec-ch-ua: "x"' \\
  --data-raw '{"sku":"T-1","count":2,"password":"s3cr3t-pass","note":"eyJhbGciOiJIUzI1NiJ9.e30.s3cr3t"}'`;

test("a command copied from a browser becomes one operation, with its ids as parameters", () => {
  const { facts } = readCurl(BROWSER, "Shop");
  expect(facts).toMatchObject({ format: "curl", title: "Shop", servers: [{ url: "https://shop.example" }] });
  const [operation] = facts.operations;
  expect(operation).toMatchObject({ key: "POST /api/v2/orders/{orderId}/lines" });
  expect(operation?.parameters.map(({ name, in: place }) => `${place} ${name}`)).toEqual([
    "path orderId",
    "query limit",
    "header x-tenant",
  ]);
  expect([...(operation?.body?.contents[0]?.schema?.properties.keys() ?? [])]).toEqual([
    "sku",
    "count",
    "password",
    "note",
  ]);
});

test("the credentials of a command become named ones, and none of their values is kept (X9)", () => {
  const { facts, document } = readCurl(BROWSER, "Shop");
  expect(Object.values(facts.security)).toMatchObject([
    { kind: "bearer" },
    { kind: "apiKey", in: "query", name: "api_key" },
    { kind: "apiKey", in: "header", name: "x-auth-token" },
    { kind: "apiKey", in: "cookie", name: "sid" },
  ]);
  expect(JSON.stringify(facts) + document.text).not.toContain("s3cr3t");
  const login = readCurl("curl https://me:s3cr3t@shop.example/x -u me:s3cr3t", "Shop");
  expect(login.facts.security).toMatchObject({ basic: { kind: "basic" } });
  expect(JSON.stringify(login.facts) + login.document.text).not.toContain("s3cr3t");
});

test("ids in the address that documentation leaves open are parameters", () => {
  const { facts } = readCurl("curl 'https://shop.example/shops/{shopId}/orders/<order>/:line/7/8'", "Shop");
  expect(facts.operations).toMatchObject([{ path: "/shops/{shopId}/orders/{order}/{line}/{orderId}/{orderId2}" }]);
});

test("whatever a command has, it is read or refused", () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "-H",
      "-d",
      "-F",
      "-G",
      "--json",
      "-b",
      "-u",
      "'",
      '"',
      "\\",
      "$",
      "https://a.example/1/x?y=2",
      "{",
      "=",
    ),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      try {
        const { facts } = readCurl(`curl ${words.join(" ")}`, "Any");
        for (const { body } of facts.operations) for (const { schema } of body?.contents ?? []) schema?.asJsonSchema();
      } catch (error) {
        expect(error).toMatchObject({ name: "NexusError" });
      }
    }),
    { numRuns: 300 },
  );
});
