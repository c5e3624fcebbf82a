import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withObjectProperties } from "../../../src/server/legacy/tool-outputs.ts";
import type { Logger } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { normaliseItem } from "../../../src/protocol/listed-item.ts";
import { ScriptedServer } from "../../../src/testing/index.ts";
import { parrot } from "../faults/faults-servers.ts";
import { FaultWorld } from "../faults/faults-world.ts";

const INFO = { name: "interop", version: "1.0.0" };
const OBJECT = { type: "object" };

/** Each is wrong in its own way, and can be used. */
const TOOLS = [
  { name: "annotations", inputSchema: OBJECT, annotations: null },
  { name: "hint", inputSchema: OBJECT, annotations: { title: null, readOnlyHint: "yes" } },
  { name: "required", inputSchema: { ...OBJECT, required: null } },
  { name: "described", inputSchema: OBJECT, description: null, title: null, icons: null, _meta: null },
  { name: "schemaless" },
  { name: "null_schema", inputSchema: null },
  { name: "typeless", inputSchema: { properties: { a: { type: "string" } } } },
  { name: "listed", inputSchema: { ...OBJECT, properties: [] } },
  { name: "boolean", inputSchema: { ...OBJECT, properties: { any: true, none: false, nothing: null } } },
  { name: "output", inputSchema: OBJECT, outputSchema: { ...OBJECT, properties: { any: true }, required: null } },
  { name: "icons", inputSchema: OBJECT, icons: [{ src: 1 }, { src: "https://example.com/a.png", sizes: "48x48" }] },
];
const PROMPTS = [{ name: "p", description: null, arguments: [{ name: "a", description: null, required: null }, {}] }];
const RESOURCES = [
  { uri: "test:///a", name: null, size: null, mimeType: null, annotations: { lastModified: "2025-02-30T00:00:00Z" } },
];
const TEMPLATES = [{ uriTemplate: "test:///{x}", name: "t", description: null, annotations: { priority: 2 } }];
/** Nothing can be made of these. */
const USELESS = [
  null,
  17,
  {},
  { name: null, uri: null, uriTemplate: null },
  { name: "", uri: "", uriTemplate: "", inputSchema: OBJECT },
];

function malformed(era: "legacy" | "modern"): ScriptedServer {
  return new ScriptedServer({ era, tools: {}, prompts: {}, resources: {} })
    .on("tools/list", () => ({ tools: [...TOOLS, ...USELESS] }))
    .on("tools/call", () => ({ content: [{ type: "text", text: "done" }] }))
    .on("prompts/list", () => ({ prompts: [...PROMPTS, ...USELESS] }))
    .on("resources/list", () => ({ resources: [...RESOURCES, ...USELESS] }))
    .on("resources/templates/list", () => ({ resourceTemplates: [...TEMPLATES, ...USELESS] }));
}

const warnings: string[] = [];
const logger: Logger = { debug() {}, info() {}, warn: (text) => warnings.push(text), error() {} };
let world: FaultWorld;

beforeAll(async () => {
  const servers = () => ({
    old: malformed("legacy").transport,
    young: malformed("modern").transport,
    good: parrot(),
  });
  world = await FaultWorld.open(servers, { logger }, { logger });
});
afterAll(() => world[Symbol.asyncDispose]());

async function sdk1(url: string): Promise<Client1> {
  const client = new Client1(INFO);
  await client.connect(new Http1(new URL(url)));
  return client;
}

async function sdk2(url: string, mode: "auto" | "legacy"): Promise<Client2> {
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  await client.connect(new Http2(new URL(url)));
  return client;
}

const CLIENTS = [
  ["SDK 1.x", sdk1],
  ["SDK 2.x", (url: string) => sdk2(url, "auto")],
  ["SDK 2.x in the legacy era", (url: string) => sdk2(url, "legacy")],
] as const;

describe("A malformed item costs no client the other items, of whatever list", () => {
  test.for(CLIENTS)("%s accepts the lists of all servers (B1, X1)", async ([, connect]) => {
    const client = await connect(world.gateway.url);
    try {
      const full = (names: string[]) => ["old", "young"].flatMap((server) => names.map((name) => `${server}__${name}`));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([...full(TOOLS.map(({ name }) => name)), "good__say"]);
      expect(tools.every(({ inputSchema }) => inputSchema.type === "object")).toBe(true);
      expect((await client.listPrompts()).prompts).toMatchObject([
        { name: "old__p", arguments: [{ name: "a" }] },
        { name: "young__p", arguments: [{ name: "a" }] },
      ]);
      expect((await client.listResources()).resources).toMatchObject([
        { uri: "old+test:///a", name: "test:///a" },
        { uri: "young+test:///a", name: "test:///a" },
      ]);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ name }) => name)).toEqual(["t", "t"]);
    } finally {
      await client.close();
    }
  });

  test.for(CLIENTS)("%s accepts the lists of one server (B1)", async ([, connect]) => {
    for (const server of ["old", "young"]) {
      const client = await connect(world.url(server));
      try {
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
        expect((await client.listPrompts()).prompts).toHaveLength(1);
        expect((await client.listResources()).resources).toHaveLength(1);
        expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
        expect(await client.callTool({ name: "schemaless", arguments: {} })).toMatchObject({
          content: [{ text: "done" }],
        });
      } finally {
        await client.close();
      }
    }
  });

  test("a boolean schema of a property stays what it is for a modern caller, and is an object for a legacy one", async () => {
    const properties = { any: true, none: false, nothing: {} };
    using caller = world.caller("old");
    const { message } = await caller.request("tools/list");
    const listed = message.result?.["tools"] as { name: string; inputSchema: Params }[];
    expect(listed.find(({ name }) => name === "boolean")?.inputSchema["properties"]).toEqual(properties);
    const client = await sdk1(world.url("old"));
    const { tools } = await client.listTools();
    await client.close();
    const shown = tools.find(({ name }) => name === "boolean")?.inputSchema.properties;
    expect(shown).toEqual({ any: {}, none: { not: {} }, nothing: {} });
  });

  test.for(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])(
    "what is left out of %s is named in the log, with its server",
    (method) => {
      for (const server of ["old", "young"]) {
        const skipped = `^skipped in ${method} of "${server}": number.*, "" \\("\\w+" is empty\\)`;
        expect(warnings).toContainEqual(expect.stringMatching(skipped));
      }
    },
  );
});

test("what is left of any tool after it was normalised, the SDK accepts", () => {
  const odd = fc.oneof(fc.constantFrom(null, true, 0, "text", {}, []), fc.jsonValue());
  const texts = ["title", "description", "icons"];
  const members = [...texts, "annotations", "execution", "outputSchema", "inputSchema", "_meta"];
  const schema = fc.record(
    { type: fc.oneof(fc.constant("object"), odd), properties: odd, required: odd, $schema: odd },
    { requiredKeys: [] },
  );
  const hints = fc.record({ title: odd, readOnlyHint: odd, idempotentHint: odd }, { requiredKeys: [] });
  const icons = fc.array(fc.record({ src: odd, sizes: odd, theme: odd, mimeType: odd }, { requiredKeys: [] }));
  const value = fc.oneof(odd, schema, hints, icons, fc.record({ taskSupport: odd }));
  const rest = fc.dictionary(fc.constantFrom(...members), value);
  fc.assert(
    fc.property(rest, (given) => {
      const item = normaliseItem("tools", { name: "x", ...given }, () => {});
      const shown = { ...item, inputSchema: withObjectProperties(item?.["inputSchema"]) };
      const output = item?.["outputSchema"] as Params | undefined;
      // Sessions wrap or leave out what describes no object.
      if (output)
        Object.assign(shown, { outputSchema: { ...(withObjectProperties(output) as Params), type: "object" } });
      expect(ToolSchema.safeParse(shown).error).toBeUndefined();
    }),
  );
});

test("a valid item is handed on as it is", () => {
  const tool = { name: "x", inputSchema: { type: "object", properties: { a: true } }, annotations: {}, other: null };
  expect(normaliseItem("tools", tool, () => expect.unreachable())).toBe(tool);
});
