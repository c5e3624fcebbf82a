import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";
import { examples } from "../fixtures/depth.ts";

const INNER = "{ a: { type: string, optional: true }, n: { type: integer, optional: true } }";
const FIELDS = `{ text: { type: string }, count: { type: integer, optional: true }, flag: { type: boolean, optional: true }, list: { list: string, optional: true }, inner: { type: Inner, optional: true } }`;

function tool(name: string, input: string, request: string, answer = "{ as: none, text: Done. }"): string {
  return `  ${name}: { title: T, description: Tries it., effect: read, input: ${input}, request: ${request}, response: ${answer} }\n`;
}

const FILE = `
nexus: 1
api: wire
title: Wire
version: 1.0.0
upstream: { base: "https://api.example/v1/" }
types:
  Inner: { fields: ${INNER} }
  All: { fields: ${FIELDS} }
  Upload: { fields: { file: { type: binary }, files: { list: { type: binary }, optional: true }, text: { type: string }, inner: { type: Inner, optional: true } } }
  Bytes: { fields: { content: { wire: ".", type: binary } } }
  Words: { fields: { text: { wire: ".", type: string } } }
  Id: { fields: { id: { type: string } } }
  Got: { fields: { id: { type: string } } }
tools:
${[
  tool("multipart", "Upload", "{ method: POST, path: multipart, body: multipart }"),
  tool("binary", "Bytes", "{ method: POST, path: binary, body: binary }"),
  tool("text", "Words", "{ method: POST, path: text, body: text }"),
  tool(
    "deep",
    "All",
    "{ method: POST, path: deep, body: form, parts: { inner: { style: deep }, list: { style: repeat } } }",
  ),
  tool(
    "json",
    "All",
    "{ method: POST, path: json, body: form, parts: { inner: { style: json }, list: { style: json } } }",
  ),
  tool("options", "Id", "{ method: OPTIONS, path: 'things/{id}' }", "{ as: json, type: Got, text: Done. }"),
  tool("query", "All", "{ method: QUERY, path: things, body: json }"),
  tool("get_with_body", "All", "{ method: GET, path: found, body: json }"),
  tool("auto_json", "Id", "{ method: GET, path: 'auto/json/{id}' }", "{ as: auto, type: Got, text: 'Got {id}.' }"),
  tool("auto_bytes", "Id", "{ method: GET, path: 'auto/bytes/{id}' }", "{ as: auto, text: Got it. }"),
].join("")}`;

let fake: Fake;
let runner: ApiRunner;
beforeAll(async () => {
  const { file, problems } = readToolFile(FILE, "wire.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("the file cannot be read");
  fake = await startFake(file);
  runner = new ApiRunner(compileApi(file, {}).api, { secrets: async () => undefined, upstream: fake.url });
});
afterAll(async () => {
  await runner.close();
  await fake.close();
});

/** What the fake read of the request that a call sent. */
async function readBy(name: string, args: Record<string, unknown>) {
  const result = await runner.call(name, args, { caller: "ann" });
  expect(result.isError, JSON.stringify(result.content)).toBeUndefined();
  return { result, seen: fake.requests.at(-1) };
}

/** Half characters cannot be sent as UTF-8. */
const text = fc.string({ unit: "binary", maxLength: 20 }).map((each) => each.replaceAll(/\p{Cs}/gu, ""));
const someText = text.filter((each) => each !== "");
const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each).toString("base64"));
const inner = fc.record({ a: someText, n: fc.maxSafeInteger() }, { requiredKeys: ["n"], noNullPrototype: true });
// A list that is not given is read as an empty one.
const list = fc.array(someText, { minLength: 1, maxLength: 4 });
const all = fc.record(
  { text: someText, count: fc.maxSafeInteger(), flag: fc.boolean(), list, inner },
  { requiredKeys: ["text", "list"], noNullPrototype: true },
);
const KINDS: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  multipart: fc.record(
    { file: bytes, files: fc.array(bytes, { minLength: 1, maxLength: 3 }), text, inner },
    { requiredKeys: ["file", "files", "text"], noNullPrototype: true },
  ),
  binary: fc.record({ content: bytes }, { noNullPrototype: true }),
  text: fc.record({ text }, { noNullPrototype: true }),
  deep: all,
  json: all,
  query: all,
  get_with_body: all,
};

test.each(Object.entries(KINDS))("X5: a %s request is read by the fake as it was given", async (name, given) => {
  await fc.assert(
    fc.asyncProperty(given, async (args) => {
      const { seen } = await readBy(name, args);
      expect(seen).toMatchObject({ tool: name, status: 204 });
      expect(seen?.input).toEqual(args);
    }),
    { numRuns: examples(100) },
  );
});

test("OPTIONS, QUERY and GET with a body are sent as they are written", async () => {
  const options = await readBy("options", { id: "7" });
  expect(options.seen).toMatchObject({ method: "OPTIONS", body: "" });
  expect(options.result.structuredContent).toEqual({ id: "7" });
  const body = { text: "ü", list: ["a"] };
  for (const [name, method] of [
    ["query", "QUERY"],
    ["get_with_body", "GET"],
  ] as const) {
    const { seen } = await readBy(name, body);
    expect({ method: seen?.method, body: JSON.parse(seen?.body ?? "") as unknown }).toEqual({ method, body });
  }
});

test("an answer that is read by its content type is JSON with the fields of its type, or text", async () => {
  const json = await readBy("auto_json", { id: "7" });
  expect(json.result).toMatchObject({
    structuredContent: { id: "7" },
    content: [{ text: expect.stringMatching(/^Got 7/) }, {}],
  });
  const plain = await readBy("auto_bytes", { id: "7" });
  expect(plain.result.structuredContent).toEqual({ text: "auto_bytes was called." });
});
