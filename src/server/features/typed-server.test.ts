import { runInNewContext } from "node:vm";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { failure } from "../../../test/fixtures/failure.ts";
import { connect, MemoryTransport, type Client, type ConnectOptions } from "../../index.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { SILENT } from "../../text/logger.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { oneOf } from "./completion.ts";
import { McpServer, type McpServerOptions } from "./mcp-server.ts";
import type { FromSchema, JsonSchemaObject, TemplateVariables } from "./schema-types.ts";

const newServer = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: "own", version: "1.0.0", ...options });

const clientOf = (server: McpServer, options?: ConnectOptions): Promise<Client> =>
  connect(new MemoryTransport((end) => serveMemory(server, end, { logger: SILENT })), options);

interface Sum {
  a: number;
  b: number;
}

const SUM_TOOLS: Record<string, (server: McpServer) => unknown> = {
  zod: (server) =>
    server.tool(
      "add",
      { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<Sum>();
        return { sum: args.a + args.b };
      },
    ),
  ArkType: (server) =>
    server.tool("add", { input: type({ a: "number", b: "number" }), output: type({ sum: "number" }) }, (args) => {
      expectTypeOf(args).toEqualTypeOf<Sum>();
      return { sum: args.a + args.b };
    }),
  Valibot: (server) =>
    server.tool(
      "add",
      {
        input: toStandardJsonSchema(v.object({ a: v.number(), b: v.number() })),
        output: toStandardJsonSchema(v.object({ sum: v.number() })),
      },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<Sum>();
        return { sum: args.a + args.b };
      },
    ),
  "JSON Schema": (server) =>
    server.tool(
      "add",
      {
        input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<Sum>();
        return { sum: args.a + args.b };
      },
    ),
  "one object": (server) =>
    server.tool(
      {
        name: "add",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
      },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<Sum>();
        return { sum: args.a + args.b };
      },
    ),
};

describe.each(Object.entries(SUM_TOOLS))("a tool with schemas of %s", (_library, declare) => {
  const served = () => {
    const server = newServer();
    declare(server);
    return server;
  };

  test("is listed with JSON Schemas", async () => {
    await using client = await clientOf(served());
    const [tool] = await client.listTools();
    expect(tool).toMatchObject({
      inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a", "b"] },
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    });
    expect(JSON.stringify(tool)).not.toContain("$schema");
  });

  test("gets arguments that were checked, and returns its value for programs and as text", async () => {
    await using client = await clientOf(served());
    expect(await client.callTool("add", { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
      content: [{ type: "text", text: '{"sum":3}' }],
    });
    const refused = await client.callTool("add", { a: 1, b: "2" });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toMatch(/^The arguments are not valid\. Correct them and call again: .*\bb\b/);
  });
});

test("arguments reach the handler as the schema of a library makes them, also where it takes time", async () => {
  const server = newServer();
  const input = z.object({
    day: z.string().default("monday"),
    count: z.string().transform(Number),
    free: z
      .string()
      .refine(async (name) => name !== "taken", "is taken")
      .optional(),
  });
  server.tool("book", { input }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ day: string; count: number; free?: string | undefined }>();
    return JSON.stringify(args);
  });
  await using client = await clientOf(server);
  const text = async (args: Record<string, unknown>) => (await client.callTool("book", args)).content[0]?.text;
  expect(await text({ count: "3" })).toBe('{"day":"monday","count":3}');
  expect(await text({ count: "3", free: "taken" })).toContain("free: is taken");
});

test("arguments are checked also where a library answers with a promise of another realm", async () => {
  const server = newServer();
  const json = { type: "object" };
  const later = runInNewContext("async (value) => value") as (value: unknown) => unknown;
  const answer = (value: unknown) =>
    isRecord(value) && "day" in value ? { value } : { issues: [{ message: "no day" }] };
  const standard = {
    version: 1,
    vendor: "own",
    validate: (value: unknown) => later(answer(value)),
    jsonSchema: { input: () => json, output: () => json },
  };
  const schema: JsonSchemaObject = { "~standard": standard };
  server.tool("book", { input: schema }, (args) => JSON.stringify(args));
  await using client = await clientOf(server);
  expect((await client.callTool("book", { day: "monday" })).content[0]?.text).toBe('{"day":"monday"}');
  expect(await client.callTool("book", {})).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/no day/) }],
  });
});

test("a result that does not match the output is an error with the tool's name, and what is wrong", async () => {
  const server = newServer();
  const output = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] } as const;
  const returned: unknown[] = [
    { totals: 1 },
    { structuredContent: { total: "1" } },
    "1",
    { content: [{ type: "text", text: "1" }] },
    undefined,
    { total: Number.NaN },
    { total: 1n },
  ];
  server.tool("count", { output }, () => returned.shift() as { total: number });
  await using client = await clientOf(server);
  const messages: string[] = [];
  while (returned.length > 0) messages.push((await failure(client.callTool("count"))).details.rpc?.message ?? "");
  const what = 'The tool "count" returned a value that does not match its output: ';
  expect(messages).toEqual([
    `${what}missing property total (integer): is totals meant to be it?`,
    `${what}total: expected integer, got string "1"`,
    `${what}expected object, got string "1"`,
    `${what}missing property total (integer)`,
    `${what}the value cannot be written as JSON`,
    `${what}total: expected integer, got null`,
    `${what}the value cannot be written as JSON`,
  ]);
});

test("values are checked as JSON carries them, and members that a schema of a library leaves out do not leave", async () => {
  const server = newServer();
  const day = { type: "object", properties: { day: { type: "string" } }, additionalProperties: false } as const;
  server.tool("json", { output: day }, () => ({ day: new Date(0), gone: undefined }) as never);
  server.tool("zod", { output: z.object({ day: z.string() }) }, () => ({ day: "monday", secret: "s" }));
  await using client = await clientOf(server);
  expect((await client.callTool("json")).structuredContent).toEqual({ day: "1970-01-01T00:00:00.000Z" });
  expect(await client.callTool("zod")).toMatchObject({ content: [{ text: '{"day":"monday"}' }] });
});

test("a tool with an output can report that it failed, and return its whole result", async () => {
  const server = newServer();
  const output = z.object({ count: z.number() });
  server.tool("fail", { output }, () => ({ content: [{ type: "text", text: "nothing there" }], isError: true }));
  server.tool("whole", { output }, () => ({
    content: [{ type: "text", text: "one" }],
    structuredContent: { count: 1 },
  }));
  server.tool("blocks", {}, () => [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
  await using client = await clientOf(server);
  expect(await client.callTool("fail")).toMatchObject({ isError: true, content: [{ text: "nothing there" }] });
  expect(await client.callTool("whole")).toMatchObject({ content: [{ text: "one" }], structuredContent: { count: 1 } });
  expect(await client.callTool("blocks")).toMatchObject({ content: [{ text: "a" }, { text: "b" }] });
});

test("a tool with an output can return a task in place of its value", async () => {
  const task = { taskId: "t", status: "completed", createdAt: "2026-01-01T00:00:00Z", ttl: null, pollInterval: 1 };
  const result = { content: [{ type: "text", text: "built" }], structuredContent: { count: 1 } };
  const server = newServer({ legacyTasks: { requests: { tools: { call: {} } } } });
  const methods = { "tasks/get": () => task, "tasks/result": () => result };
  server.extension("io.modelcontextprotocol/tasks", {}, methods);
  const output = z.object({ count: z.number() });
  server.tool("build", { output, execution: { taskSupport: "required" } }, () => ({ task }));
  server.tool("later", { output }, () => ({ resultType: "task", ...task }));
  await using client = await clientOf(server, { protocolVersion: "2025-11-25" });
  expect(await client.callTool("build", {}, { task: true })).toMatchObject({ structuredContent: { count: 1 } });
});

test("a tool without input takes no arguments", async () => {
  const server = newServer().tool("ping", {}, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, never>>();
    return "pong";
  });
  await using client = await clientOf(server);
  expect(await client.callTool("ping")).toMatchObject({ content: [{ text: "pong" }] });
  const message = "The arguments are not valid. Correct them and call again: unknown property loud";
  expect(await client.callTool("ping", { loud: true })).toMatchObject({ isError: true, content: [{ text: message }] });
});

test("a server whose handlers check values themselves compares nothing with its schemas", async () => {
  const server = newServer({ checkValues: false });
  const inputSchema = { type: "object", properties: { a: { type: "number" } } };
  server.tool({ name: "any name", inputSchema, outputSchema: inputSchema }, ({ a }) => ({ structuredContent: { a } }));
  await using client = await clientOf(server);
  expect(await client.callTool("any name", { a: "b" })).toMatchObject({ structuredContent: { a: "b" } });
});

describe.each<[string, Revision]>([
  ["modern", "2026-07-28"],
  ["legacy", "2025-11-25"],
])("with a %s client", (era, revision) => {
  const revisions = [revision];

  test("a prompt has arguments of its schema, which are listed, checked and completed", async () => {
    const server = newServer({ revisions });
    const input = z.object({ day: z.string().describe("Which day"), times: z.coerce.number().int().optional() });
    server.prompt("remind", { input, complete: { day: async () => ["monday"] } }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ day: string; times?: number | undefined }>();
      return `${args.day} ${typeof args.times}`;
    });
    server.prompt("listed", { arguments: [{ name: "day", required: true }, { name: "hour" }] }, ({ day, hour }) => {
      expectTypeOf(day).toEqualTypeOf<string>();
      expectTypeOf(hour).toEqualTypeOf<string | undefined>();
      return day;
    });
    await using client = await clientOf(server);
    expect((await client.listPrompts())[0]?.arguments).toEqual([
      { name: "day", description: "Which day", required: true },
      { name: "times" },
    ]);
    const { messages } = await client.getPrompt("remind", { day: "monday", times: "2" });
    expect(messages[0]?.content).toMatchObject({ text: "monday number" });
    const { rpc } = (await failure(client.getPrompt("remind", { day: "monday", times: "often" }))).details;
    expect(rpc).toMatchObject({ code: -32602, message: expect.stringContaining("times: ") as string });
    const completed = await client.complete({ type: "ref/prompt", name: "remind" }, { name: "day", value: "m" });
    expect(completed.completion.values).toEqual(["monday"]);
  });

  test("a template has the variables that it names", async () => {
    const server = newServer({ revisions });
    const complete = { day: oneOf("monday") };
    server.template("memo://{day}/{hour}", { name: "memo", mimeType: "text/plain", complete }, (_uri, variables) => {
      expectTypeOf(variables).toEqualTypeOf<{ day: string; hour: string }>();
      return `${variables.day} at ${variables.hour}`;
    });
    server.resource("memo://all", { name: "all", mimeType: "text/plain" }, () => "everything");
    await using client = await clientOf(server);
    expect((await client.readResource("memo://monday/8")).contents).toMatchObject([{ text: "monday at 8" }]);
    expect((await client.readResource("memo://all")).contents).toMatchObject([{ text: "everything" }]);
  });

  test("the answer to a form has the type of the form, and one that does not fit it fails the call", async () => {
    const server = newServer({ revisions });
    server.tool("order", {}, async (_args, { ask }) => {
      const { tea, cup } = await ask({
        tea: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Tea?",
            requestedSchema: { type: "object", properties: { sugar: { type: "boolean" } }, required: ["sugar"] },
          },
        },
        cup: {
          method: "elicitation/create",
          params: { mode: "form", message: "Cup?", requestedSchema: z.object({ size: z.enum(["small", "large"]) }) },
        },
      });
      if (tea.action !== "accept" || cup.action !== "accept") return "nothing";
      expectTypeOf(tea.content).toEqualTypeOf<{ sugar: boolean }>();
      expectTypeOf(cup.content).toEqualTypeOf<{ size: "small" | "large" }>();
      return `${String(tea.content.sugar)} ${cup.content.size}`;
    });
    const asked: unknown[] = [];
    const order = async (sugar: unknown) => {
      const handle = ({ params }: { params?: Record<string, unknown> }) => {
        asked.push(params?.["requestedSchema"]);
        return { action: "accept" as const, content: { sugar, size: "small" } };
      };
      await using client = await clientOf(server, { input: { capabilities: { elicitation: {} }, handle } });
      return (await client.callTool("order")).content[0]?.text;
    };
    expect(await order(true)).toBe("true small");
    expect(asked[1]).toMatchObject({ type: "object", properties: { size: { enum: ["small", "large"] } } });
    expect(await order("yes")).toContain('The answer to "tea" does not fit its form: sugar: expected boolean');
  });

  test("notes of a session stay until it ends; newer clients have no session", async () => {
    const server = newServer({ revisions });
    server.tool("count", {}, (_args, { session }) => {
      const count = Number(session?.get("count") ?? 0) + 1;
      session?.set("count", count);
      return session ? String(count) : "no session";
    });
    const counts = async (client: Client) => {
      await client.callTool("count");
      return (await client.callTool("count")).content[0]?.text;
    };
    await using first = await clientOf(server);
    await using second = await clientOf(server);
    const twice = era === "legacy" ? "2" : "no session";
    expect([await counts(first), await counts(second)]).toEqual([twice, twice]);
  });
});

describe("the type of a JSON Schema", () => {
  test("says what it can, and is unknown otherwise", () => {
    expectTypeOf<FromSchema<{ type: "integer" }>>().toEqualTypeOf<number>();
    expectTypeOf<FromSchema<{ type: readonly ["string", "null"] }>>().toEqualTypeOf<string | null>();
    expectTypeOf<FromSchema<{ enum: readonly ["a", 1] }>>().toEqualTypeOf<"a" | 1>();
    expectTypeOf<FromSchema<{ const: { readonly a: readonly [1] } }>>().toEqualTypeOf<{ a: [1] }>();
    expectTypeOf<FromSchema<{ type: "array"; items: { type: "string" } }>>().toEqualTypeOf<string[]>();
    expectTypeOf<FromSchema<{ type: "array"; prefixItems: readonly [{ type: "string" }] }>>().toEqualTypeOf<
      unknown[]
    >();
    expectTypeOf<FromSchema<{ anyOf: readonly [{ type: "string" }, { type: "number" }] }>>().toEqualTypeOf<
      string | number
    >();
    expectTypeOf<
      FromSchema<{ anyOf: readonly [{ type: "string" }, { $ref: "#/$defs/a" }] }>
    >().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ $ref: "#/$defs/a" }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ type: "object" }>>().toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<FromSchema<{ type: "object"; additionalProperties: { type: "number" } }>>().toEqualTypeOf<
      Record<string, number>
    >();
    expectTypeOf<FromSchema<{ properties: { a: { type: "number" } } }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ type: string }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<Record<string, unknown>>>().toEqualTypeOf<unknown>();
    expectTypeOf<
      FromSchema<{ type: "object"; properties: { a: { type: "number" } }; required: string[] }>
    >().toEqualTypeOf<{
      a?: number;
    }>();
    expectTypeOf<TemplateVariables<"a://{b}/{c}">>().toEqualTypeOf<{ b: string; c: string }>();
  });

  test("wide types leave arguments to the handler", () => {
    const inputSchema: Record<string, unknown> = { type: "object" };
    newServer().tool({ name: "any", inputSchema }, (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return "text";
    });
  });
});

test("programs that use a declaration wrongly do not compile", () => {
  // Each is a mistake that TypeScript finds; what it lets through in JavaScript is in declarations.test.ts.
  const mistakes = (server: McpServer) => {
    const input = z.object({ a: z.number() });
    // @ts-expect-error: there is no such argument
    server.tool("a", { input }, ({ b }) => String(b));
    // @ts-expect-error: it is a number
    server.tool("a", { input }, ({ a }) => a.toUpperCase());
    // @ts-expect-error: a number is not a result
    server.tool("a", { input }, ({ a }) => a);
    // @ts-expect-error: an object without content is not a result
    server.tool("a", { input }, () => ({ text: "hi" }));
    // @ts-expect-error: the value of another type
    server.tool("a", { output: z.object({ sum: z.number() }) }, () => ({ sum: "3" }));
    // @ts-expect-error: the structured content of another type
    server.tool("a", { output: z.object({ sum: z.number() }) }, () => ({ structuredContent: { sum: "3" } }));
    // @ts-expect-error: text in place of the value
    server.tool("a", { output: z.object({ sum: z.number() }) }, () => "3");
    // @ts-expect-error: a schema without a JSON Schema
    server.tool("a", { input: v.object({ a: v.number() }) }, () => "3");
    // @ts-expect-error: a misspelt option
    server.tool("a", { input, descripton: "adds" }, () => "3");
    // @ts-expect-error: the member of the other form
    server.tool("a", { inputSchema: input }, () => "3");
    const output = { type: "object", properties: { b: { type: "string" } }, required: ["b"] } as const;
    // @ts-expect-error: a required member of a JSON Schema
    server.tool("a", { output }, () => ({}));
    // @ts-expect-error: there is no such variable
    server.template("memo://{day}", { name: "memo" }, (_uri, { hour }) => hour);
    // @ts-expect-error: a variable that is not in the template is not completed
    server.template("memo://{day}", { name: "memo", complete: { hour: oneOf("8") } }, () => "memo");
    // @ts-expect-error: there is no such argument
    server.prompt("a", { input }, ({ b }) => String(b));
    // @ts-expect-error: there is no such argument
    server.prompt("a", { arguments: [{ name: "day" }] }, ({ hour }) => hour);
    // @ts-expect-error: an argument that is not declared is not completed
    server.prompt("a", { arguments: [{ name: "day" }], complete: { hour: oneOf("8") } }, () => "a");
  };
  expect(mistakes).toBeTypeOf("function");
});
