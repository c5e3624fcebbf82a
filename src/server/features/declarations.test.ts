import * as v from "valibot";
import { expect, test } from "vitest";
import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { connect, MemoryTransport } from "../../index.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { McpServer } from "./mcp-server.ts";

/** A server as programs without types see it. */
interface Untyped {
  tool(...args: unknown[]): unknown;
  resource(...args: unknown[]): unknown;
  template(...args: unknown[]): unknown;
  prompt(...args: unknown[]): unknown;
  remove(...args: unknown[]): unknown;
}

const create = (...args: unknown[]) => Reflect.construct(McpServer, args) as Untyped;
const server = () => create({ name: "own", version: "1.0.0" });
const handler = () => "text";

/** What the official SDK takes. */
const RAW = { a: z.string() };

const MISTAKES: [mistake: () => unknown, message: string, hint: string][] = [
  [() => create(), "A server needs a name and a version", "new McpServer({ name"],
  [() => create("own"), "A server needs a name and a version", "new McpServer({ name"],
  [() => create({ version: "1.0.0" }), `The server has no "name"`, "new McpServer({ name"],
  [() => create({ name: "own" }), `The server has no "version"`, "new McpServer({ name"],
  [() => create({ name: "own", version: 1 }), `The server needs a "version" of text, not 1`, "new McpServer({ name"],
  [
    () => server().tool("greet", handler),
    `The options of the tool "greet" are a function and not an object`,
    'server.tool("greet", {',
  ],
  [() => server().tool(handler), "A tool is declared by an object, not by a function", 'server.tool("greet", {'],
  [() => server().tool({}, handler), `A tool has no "name"`, 'server.tool("greet", {'],
  [() => server().tool({ name: "" }, handler), `A tool needs a "name" of text, not ""`, 'server.tool("greet", {'],
  [
    () => server().tool({ name: "a" }),
    `The tool "a" has no handler: undefined is not a function`,
    'server.tool("greet", {',
  ],
  [
    () => server().tool({ name: "a", inputSchema: { name: "string" } }, handler),
    `The input of the tool "a" is not a schema of type "object"`,
    `input: { type: "object"`,
  ],
  [
    () => server().tool({ name: "a", inputSchema: null }, handler),
    `The input of the tool "a" is not a schema`,
    `{ type: "object"`,
  ],
  [
    () => server().resource("memo://all", handler),
    `The options of the resource "memo://all" are a function and not an object`,
    "server.resource(",
  ],
  [() => server().resource({ name: "all" }, handler), `A resource has no "uri"`, "server.resource("],
  [
    () => server().resource({ uri: "memo://all" }, handler),
    `The resource "memo://all" has no "name"`,
    "server.resource(",
  ],
  [
    () => server().resource({ uri: "memo://all", name: "all" }, "text"),
    `The resource "memo://all" has no handler: "text" is not a function`,
    "server.resource(",
  ],
  [() => server().template({ uri: "memo://{x}" }, handler), `A template has no "uriTemplate"`, "server.template("],
  ...["memo://{x", "memo://x}", "memo://{}", "memo://{+x}", "memo://{{x}}"].map(
    (uriTemplate): [() => unknown, string, string] => [
      () => server().template({ uriTemplate, name: "memo" }, handler),
      `The template "${uriTemplate}" cannot be read`,
      "{name}",
    ],
  ),
  [() => server().prompt(handler), "A prompt is declared by an object, not by a function", "server.prompt("],
  [
    () => server().prompt({ name: "a" }, {}),
    `The prompt "a" has no handler: an object is not a function`,
    "server.prompt",
  ],
  [
    () => create({ name: "own", version: "1", instruction: "" }),
    `The server has an unknown member "instruction"`,
    '"instructions"',
  ],
  [
    () => create({ name: "own", version: "1", revisions: ["2025-01-01"] }),
    'A server cannot serve the revision "2025-01-01"',
    "2025-06-18",
  ],
  [
    () => create({ name: "own", version: "1", revisions: "2025-06-18" }),
    `The server needs "revisions" as a list with at least one`,
    "2025-06-18",
  ],
  [() => create({ name: "own", version: "1", pageSize: 0 }), "0 is not the size of a page", "from 1"],
  [
    () => server().tool("a", { description: 5 }, handler),
    `The tool "a" needs "description" to be text, not 5`,
    'description: "…"',
  ],
  [
    () => Reflect.construct(McpServer, [{ name: "a", version: "1" }, { instructions: "Greet." }]),
    "A server takes one object",
    "Put all options into it",
  ],
  [
    () => server().resource("welcome", { name: "welcome" }, handler),
    `The resource "welcome" has no URI that clients accept`,
    "memo://all",
  ],
  [
    () => server().template("memo://day", { name: "memo" }, handler),
    `The template "memo://day" has no variables`,
    "server.resource",
  ],
  [
    () => server().prompt("a", { input: { type: "object", properties: { n: { type: "number" } } } }, handler),
    `The prompt "a" has an argument "n" that is not text`,
    `{ type: "string" }`,
  ],
  [
    () => Reflect.apply(serveMemory, undefined, [{ port: 0 }, undefined]),
    "What serveMemory got first is not a server",
    "new McpServer",
  ],
  [
    () => server().tool("a", { annotations: "read" }, handler),
    `The tool "a" needs "annotations" to be an object, not "read"`,
    "server.tool(",
  ],
  [
    () => server().tool("a", { annotations: { readOnlyHint: "yes" } }, handler),
    `The value "annotations" of the tool "a" has a "readOnlyHint" of "yes"`,
    "true or false",
  ],
  [
    () => server().resource("memo://{day}", { name: "memo" }, handler),
    `The resource "memo://{day}" has variables in its URI`,
    "server.template",
  ],
  [
    () => server().prompt("a", { input: z.array(z.string()) }, handler),
    `The input of the prompt "a" is not a schema of type "object"`,
    "z.object",
  ],
  [() => server().tool("a b", {}, handler), `The tool "a b" has a name that clients refuse`, "letters"],
  [
    () => server().tool("a", { descripton: "" }, handler),
    `The tool "a" has an unknown member "descripton"`,
    '"description"',
  ],
  [
    () => server().tool("a", { inputSchema: {} }, handler),
    `The tool "a" has an unknown member "inputSchema"`,
    '"input"',
  ],
  [
    () => server().tool({ name: "a", input: {} }, handler),
    `The tool "a" has an unknown member "input"`,
    '"inputSchema"',
  ],
  [
    () => server().tool("a", { annotations: { readOnly: true } }, handler),
    `The value "annotations" of the tool "a" has an unknown member "readOnly"`,
    "readOnlyHint",
  ],
  [
    () => server().tool("a", { input: v.object({ a: v.number() }) }, handler),
    `The input of the tool "a" is a schema of "valibot" that does not give its JSON Schema, which clients need`,
    "toStandardJsonSchema(schema)",
  ],
  [
    () => server().tool("a", { output: z.object({ day: z.date() }) }, handler),
    `The output of the tool "a" cannot be written as a JSON Schema: Date cannot be represented in JSON Schema`,
    "types that JSON has",
  ],
  [
    () => server().tool("a", { input: z.string() }, handler),
    `The input of the tool "a" is not a schema of type "object"`,
    "z.object",
  ],
  [
    () => server().tool("a", { input: { type: "object", properties: { a: { type: "strng" } } } }, handler),
    `The input of the tool "a" is not a schema that can be used: /properties/a/type names a type "strng"`,
    "JSON Schema",
  ],
  [
    () => server().tool("a", { output: { $ref: "#/$defs/a" } }, handler),
    `The output of the tool "a" is not a schema that can be used: it refers to "#/$defs/a", which is not part of it; external schemas are not loaded`,
    "JSON Schema",
  ],
  [
    () => server().resource("a://b", { name: "b", mimetype: "text/plain" }, handler),
    `The resource "a://b" has an unknown member "mimetype"`,
    '"mimeType"',
  ],
  [
    () => server().template("a://{day}", { name: "b", complete: { dya: handler } }, handler),
    `The template "a://{day}" completes "dya", which it does not have`,
    '"day"',
  ],
  [
    () => server().prompt({ name: "a", arguments: [{ name: "day" }] }, handler, { complet: {} }),
    `What follows the handler of the prompt "a" has an unknown member "complet"`,
    '"complete"',
  ],
  [
    () => server().prompt("a", { arguments: [{ name: "day", requird: true }] }, handler),
    `An argument of the prompt "a" has an unknown member "requird"`,
    '"required"',
  ],
  [
    () => server().prompt("a", { arguments: { day: {} } }, handler),
    `The arguments of the prompt "a" are not a list`,
    "arguments: [{",
  ],
  [
    () => server().tool("a", { constructor: 1 }, handler),
    `The tool "a" has an unknown member "constructor"`,
    "Use name",
  ],
  [() => create({ name: "own", version: "1", toString: 1 }), `The server has an unknown member "toString"`, "Use name"],
  [
    () => server().tool("a", { description: 5 }, handler),
    `The tool "a" needs "description" to be text, not 5`,
    "server.tool(",
  ],
  [
    () => server().resource("a://b", { name: "b", icons: "b.png" }, handler),
    `The resource "a://b" needs "icons" to be a list of objects, not "b.png"`,
    "server.resource(",
  ],
  [
    () => server().tool({ name: "a", annotations: { readOnlyHint: "yes" } }, handler),
    `The value "annotations" of the tool "a" has a "readOnlyHint" of "yes"`,
    "true or false",
  ],
  ...["tool", "prompt"].map((kind): [() => unknown, string, string] => [
    () => Reflect.apply(Reflect.get(server(), kind) as typeof handler, server(), ["a", { input: RAW }, handler]),
    `The input of the ${kind} "a" has the schema of a library inside of a JSON Schema, where clients cannot read it`,
    "z.object({ … })",
  ]),
  [
    () => server().tool("a", { output: { type: "object", properties: RAW } }, handler),
    `The output of the tool "a" has the schema of a library inside of a JSON Schema, where clients cannot read it`,
    "z.object({ … })",
  ],
  [
    () => server().prompt("a", { input: { properties: {} } }, handler),
    `The input of the prompt "a" is not a schema of type "object"`,
    'type: "object"',
  ],
  [
    () => server().tool("a", {}, handler, { readOnlyHint: true }),
    `What follows the handler of the tool "a" has an unknown member "readOnlyHint"`,
    "Remove it",
  ],
  [
    () => server().tool("a", {}, handler, handler),
    `The handler of the tool "a" is followed by a function`,
    "server.tool(",
  ],
  [() => server().remove("tool", "a"), `"tool" is not a list of a server`, `"tools", "prompts", "resources"`],
];

test.each(MISTAKES.map(([mistake, message, hint]) => ({ mistake, message, hint })))(
  "a wrong declaration is refused at once: $message",
  ({ mistake, message, hint }) => {
    let thrown: unknown;
    try {
      mistake();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(NexusError);
    expect(thrown).toMatchObject({
      code: "CONFIG_INVALID",
      message,
      details: { hint: expect.stringContaining(hint) as string },
    });
  },
);

test("a refused declaration leaves what was declared before in its place", async () => {
  const own = new McpServer({ name: "own", version: "1.0.0" }).tool({ name: "a" }, handler);
  expect(() => Reflect.apply(own.tool.bind(own), own, [{ name: "a", inputSchema: [] }, handler])).toThrow(NexusError);
  expect(() => Reflect.apply(own.tool.bind(own), own, [{ name: "b" }])).toThrow(NexusError);
  await using client = await connect(new MemoryTransport((end) => serveMemory(own, end)));
  expect((await client.listTools()).map(({ name }) => name)).toEqual(["a"]);
});
