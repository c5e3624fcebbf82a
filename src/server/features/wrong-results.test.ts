import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { failure } from "../../../test/fixtures/failure.ts";
import { connect, MemoryTransport, type Client } from "../../index.ts";
import { SILENT } from "../../text/logger.ts";
import { serveHttp } from "../http/serve-http.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { McpServer } from "./mcp-server.ts";

type Loose = (...given: readonly unknown[]) => McpServer;

/** As a program without types calls it. */
function loose(server: McpServer, method: "tool" | "prompt" | "resource"): Loose {
  return (...given) => Reflect.apply(server[method] as Loose, server, given);
}

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

const getter = {
  get content(): never {
    throw new Error("the drawer is stuck");
  },
};
const refused = z.object({
  a: z.string().refine(() => {
    throw new Error("no dictionary");
  }),
});

const TOOLS: readonly [name: string, returned: unknown, why: string, output?: unknown][] = [
  ["getter", getter, "a value that cannot be used: the drawer is stuck"],
  ["deep", { structuredContent: deep(50_000) }, "a value that cannot be used: "],
  ["refining", { a: "x" }, "a value that cannot be used: no dictionary", refused],
  ["textless", { content: [{ type: "text" }] }, `"content" that is not a list of blocks`],
  ["numbers", { content: [{ type: "text", text: 5 }] }, `"content" that is not a list of blocks`],
];

const THROWN: readonly [name: string, thrown: unknown, text: string][] = [
  ["addresses", new AggregateError([new Error("no route"), new Error("refused")], ""), "no route; refused"],
  ["nameless", new RangeError(""), "RangeError"],
  ["record", { message: "relation is missing", code: "42P01" }, "relation is missing"],
];

const PROMPTS: readonly [name: string, returned: unknown][] = [
  ["text", { messages: "Hello" }],
  ["words", { messages: [{ role: "user", content: "Hello" }] }],
  ["system", { messages: [{ role: "system", content: { type: "text", text: "Hello" } }] }],
];

const RESOURCES: readonly [uri: string, returned: unknown][] = [
  ["memo://texts", ["a", "b"]],
  ["memo://contents", { contents: "text" }],
  ["memo://nameless", [{ text: "a" }]],
];

let client: Client;
beforeAll(async () => {
  const server = new McpServer({ name: "own", version: "1" });
  for (const [name, returned, , output] of TOOLS) loose(server, "tool")(name, { output }, () => returned);
  for (const [name, thrown] of THROWN) {
    loose(server, "tool")(name, {}, () => {
      throw thrown;
    });
  }
  for (const [name, returned] of PROMPTS) loose(server, "prompt")(name, {}, () => returned);
  for (const [uri, returned] of RESOURCES) loose(server, "resource")(uri, { name: uri }, () => returned);
  loose(server, "prompt")("day", { arguments: [{ name: "day" }], complete: { day: () => "monday" } }, () => "x");
  loose(server, "prompt")("odd", { arguments: [{ name: "constructor", required: true }] }, () => "x");
  const pattern = "^(a+)+$";
  server.tool("exploding", { input: { type: "object", properties: { a: { type: "string", pattern } } } }, () => "fine");
  const issues = [{ message: "not today" }];
  const standard = {
    vendor: "own",
    version: 1,
    // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
    validate: () => ({ then: (resolve: (result: object) => void) => resolve({ issues }) }),
    jsonSchema: { input: () => ({ type: "object" }) },
  };
  loose(server, "tool")("later", { input: { "~standard": standard } }, () => "fine");
  client = await connect(new MemoryTransport((end) => serveMemory(server, end, { logger: SILENT })));
});
afterAll(() => client.close());

const textOf = async (name: string, args = {}) => (await client.callTool(name, args)).content[0]?.text;

describe("what cannot be sent as a result fails the request, with the name and what is wrong", () => {
  test.each(TOOLS)("the tool %s", async (name, _returned, why) => {
    const { message } = await failure(client.callTool(name));
    expect(message).toContain(`The tool "${name}" returned ${why}`);
  });

  test.each(PROMPTS)("the prompt %s", async (name) => {
    const { message } = await failure(client.getPrompt(name));
    expect(message).toContain(`The prompt "${name}" returned "messages" that is not a list of objects`);
  });

  test.each(RESOURCES)("the resource %s", async (uri) => {
    const { message } = await failure(client.readResource(uri));
    expect(message).toContain(`The resource "${uri}" returned "contents" that is not a list of objects`);
  });

  test("a completion", async () => {
    const params = { ref: { type: "ref/prompt", name: "day" }, argument: { name: "day", value: "m" } };
    const { message } = await failure(client.request("completion/complete", params));
    expect(message).toContain(`The completion of "day" returned what is not a list of texts`);
  });
});

test.each(THROWN)("the reason is not lost where a handler throws an odd value: %s", async (name, _thrown, text) => {
  expect(await textOf(name)).toBe(text);
});

test("an argument that every object inherits is missing all the same", async () => {
  expect((await failure(client.getPrompt("odd"))).message).toContain("Missing argument: constructor");
});

test("a value that takes too long to check is refused alone: those of other callers are checked", async () => {
  expect(await textOf("exploding", { a: `${"a".repeat(60)}!` })).toContain("it takes too long to check the value");
  expect(await textOf("exploding", { a: "aaa" })).toBe("fine");
});

test("a library's own kind of promise is waited for", async () => {
  expect(await textOf("later")).toContain("not today");
});

test("what cannot be written as JSON fails its own call with the reason", async () => {
  const server = new McpServer({ name: "own", version: "1" });
  const circle: Record<string, unknown> = { type: "text", text: "a" };
  circle["self"] = circle;
  for (const [name, block] of Object.entries({ bigint: { type: "text", text: "a", size: 1n }, circle }))
    loose(server, "tool")(name, {}, () => ({ content: [block] }));
  await using serving = await serveHttp(server, { port: 0, logger: SILENT });
  await using over = await connect({ url: serving.url });
  for (const [name, why] of [
    ["bigint", /cannot be written as JSON: .*BigInt/],
    ["circle", /cannot be written as JSON: .*circular/],
  ] as const)
    expect((await failure(over.callTool(name))).message).toMatch(why);
});
