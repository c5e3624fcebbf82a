import { expect, test } from "vitest";
import { openFakeModel } from "../../../test/fixtures/providers/fake-model.ts";
import type { FakeAnswer, ProviderRequestBody } from "../../../test/fixtures/providers/provider-fake.ts";
import type { ModelEvent, ModelProvider, ModelTool } from "./model-provider.ts";
import { PROVIDER_TYPES, type ProviderType } from "../../config/models-setting.ts";

const HELLO = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];

function tool(name: string, inputSchema: ModelTool["inputSchema"]): ModelTool {
  return { name, description: `Does ${name}`, inputSchema };
}

const ODD: ModelTool[] = [
  tool("plain", { type: "object", properties: { a: { type: "string" } } }),
  tool("odata", { type: "object", properties: { $filter: { type: "string" }, Straße: {} }, required: ["$filter"] }),
  tool("either", {
    anyOf: [
      { type: "object", properties: { a: {} } },
      { type: "object", properties: { b: {} } },
    ],
  }),
  tool("list", { type: "object", properties: { tags: { type: "array" } } }),
  tool("pair", { type: "object", properties: { pair: { type: "array", items: [{}, {}] } } }),
  tool("old", { type: "object", properties: { n: { type: "number", exclusiveMinimum: true } } }),
  tool("remote", { type: "object", properties: { n: { $ref: "https://schemas.example/n.json" } } }),
  tool("nothing", {}),
];

async function ask(model: ModelProvider, tools: ModelTool[]): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ messages: HELLO, tools }, {})) events.push(event);
  return events;
}

/** The definitions of tools in a request, in the same form for both protocols. */
function definitionsIn(body: ProviderRequestBody): { name: string; description: string; schema: unknown }[] {
  return (body.tools ?? []).map((each) => {
    const {
      name,
      description,
      parameters,
      input_schema: schema,
    } = (each["function"] ?? each) as Record<string, unknown>;
    return { name: String(name), description: String(description), schema: schema ?? parameters };
  });
}

test.each(PROVIDER_TYPES)("%s: one odd tool does not make the provider refuse the request", async (type) => {
  await using world = await openFakeModel(type);
  world.fake.script(({ body }) => {
    const { properties } = (definitionsIn(body)[1] ?? { schema: { properties: {} } }).schema as { properties: object };
    const [filter = ""] = Object.keys(properties);
    return { calls: [{ name: "odata", arguments: { [filter]: "a eq 1" } }] };
  });
  expect(await ask(world.model, ODD)).toMatchObject([
    { type: "tool_call", call: { name: "odata", arguments: { $filter: "a eq 1" } } },
    { type: "end" },
  ]);
  expect(world.fake.asked).toHaveLength(1);
  const sent = definitionsIn(world.fake.asked[0]?.body ?? { model: "", messages: [] });
  expect(sent.map(({ name }) => name)).toEqual(ODD.map(({ name }) => name));
  expect(sent.find(({ name }) => name === "old")?.description).toContain(`"exclusiveMinimum":true`);
});

/** Refuses a tool, as each provider reports it, while its description or its schema is as `isRefused` says. */
function refusing(type: ProviderType, name: string, isRefused: (description: string) => boolean) {
  return ({ body }: { body: ProviderRequestBody }): FakeAnswer => {
    const at = definitionsIn(body).findIndex((each) => each.name === name && isRefused(each.description));
    if (at === -1) return { text: "Accepted." };
    const error =
      type === "anthropic"
        ? { type: "invalid_request_error", message: `tools.${at}.custom.input_schema: JSON schema is invalid` }
        : { type: "invalid_request_error", message: "Invalid schema", param: `tools[${at}].function.parameters` };
    return { status: 400, body: { error } };
  };
}

test.each(PROVIDER_TYPES)("%s: the schema of a tool that the provider refuses is sent as text", async (type) => {
  await using world = await openFakeModel(type);
  world.fake.fallback = refusing(type, "odata", (description) => !description.includes("The schema of its arguments"));
  expect(await ask(world.model, ODD)).toMatchObject([{ type: "text", text: "Accepted." }, { type: "end" }]);
  expect(world.fake.asked).toHaveLength(2);
  const [, second] = world.fake.asked;
  expect(definitionsIn(second?.body ?? { model: "", messages: [] })[1]).toMatchObject({
    description: expect.stringContaining(`"$filter"`) as string,
    schema: { type: "object", properties: {} },
  });
  await ask(world.model, ODD);
  expect(world.fake.asked).toHaveLength(3);
});

test.each(PROVIDER_TYPES)(
  "%s: a tool that the provider refuses in every form is left out with a notice",
  async (type) => {
    await using world = await openFakeModel(type);
    world.fake.fallback = refusing(type, "either", () => true);
    const [notice, ...rest] = await ask(world.model, ODD);
    expect(notice).toEqual({
      type: "notice",
      text: `The provider "fake" does not accept the tool either. It is left out.`,
    });
    expect(rest).toMatchObject([{ type: "text", text: "Accepted." }, { type: "end" }]);
    const last = world.fake.asked.at(-1)?.body ?? { model: "", messages: [] };
    expect(definitionsIn(last).map(({ name }) => name)).not.toContain("either");
  },
);

test("a refusal that names no tool is not repeated", async () => {
  await using world = await openFakeModel("openai");
  world.fake.script({ status: 400, body: { error: { message: "Bad request", param: "messages[3].content" } } });
  await expect(ask(world.model, ODD)).rejects.toMatchObject({ code: "SERVER_ERROR" });
  expect(world.fake.asked).toHaveLength(1);
});

test("anthropic: arguments of earlier calls have the names of properties that the schema has", async () => {
  await using world = await openFakeModel("anthropic");
  const call = { type: "tool_call", id: "c1", name: "odata", arguments: { $filter: "a", top: 1 } } as const;
  const result = { type: "tool_result", id: "c1", name: "odata", isError: false, content: [] } as const;
  const messages = [
    ...HELLO,
    { role: "assistant" as const, content: [call] },
    { role: "tool" as const, content: [result] },
  ];
  for await (const _event of world.model.stream({ messages, tools: ODD }, {}));
  const { body } = world.fake.asked[0] ?? {};
  const sent = definitionsIn(body ?? { model: "", messages: [] })[1] ?? { schema: { properties: {} } };
  const { properties } = sent.schema as { properties: object };
  const [filter = ""] = Object.keys(properties);
  expect(filter).toMatch(/^_filter_[0-9a-f]{8}$/);
  expect(body?.messages[1]).toMatchObject({ content: [{ type: "tool_use", input: { [filter]: "a", top: 1 } }] });
});
