import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { LEGACY_REVISIONS, type LegacyRevision } from "../../protocol/revisions.ts";
import { legacyFailure } from "./legacy-session.ts";
import { legacyResult } from "./legacy-result.ts";
import { ToolOutputs } from "./tool-outputs.ts";

function shown(method: string, result: Result, version: LegacyRevision = "2025-11-25") {
  return legacyResult({ method, params: { name: "t" } }, result, { version, outputs: new ToolOutputs(version) });
}

test("what only the newest revision has is removed, everything else stays", () => {
  const result = {
    resources: [{ uri: "a:b", name: "b", icons: [] }],
    nextCursor: "",
    somethingNew: 1,
    resultType: "complete",
    ttlMs: 5,
    cacheScope: "public",
    _meta: { [META.serverInfo]: {}, "example.org/kept": true },
  };
  const before = structuredClone(result);
  expect(shown("resources/list", result)).toEqual({
    resources: [{ uri: "a:b", name: "b", icons: [] }],
    nextCursor: "",
    somethingNew: 1,
    _meta: { "example.org/kept": true },
  });
  expect(result).toEqual(before);
  // Elsewhere these words belong to the server.
  expect(shown("tools/call", { content: [], ttlMs: 5 })).toEqual({ content: [], ttlMs: 5 });
});

test("a kind of result that legacy callers cannot have is an error", () => {
  expect(() => shown("tools/call", { resultType: "input_required" })).toThrow("input_required");
});

test("content that a revision does not have becomes text", () => {
  const link = {
    type: "resource_link",
    uri: "file:///a",
    name: "a",
    title: "A",
    mimeType: "text/plain",
    description: "First",
  };
  const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav", annotations: { priority: 1 } };
  const content = [link, audio, { type: "hologram" }];
  const kinds = (version: LegacyRevision) => {
    const blocks = shown("tools/call", { content }, version)["content"] as { type: string; text?: string }[];
    return blocks.map(({ type, text }) => text ?? type);
  };
  expect(kinds("2025-06-18")).toEqual(["resource_link", "audio", "hologram"]);
  expect(kinds("2025-03-26")).toEqual(["A (text/plain): file:///a\nFirst", "audio", "hologram"]);
  expect(kinds("2024-11-05")).toEqual([
    "A (text/plain): file:///a\nFirst",
    "[audio, audio/wav, about 3 bytes: not supported in protocol revision 2024-11-05]",
    "hologram",
  ]);
  const messages = [{ role: "user", content: link }];
  expect(shown("prompts/get", { messages }, "2025-03-26")["messages"]).toMatchObject([{ content: { type: "text" } }]);
});

test("output that is no object travels inside one, as its schema says", () => {
  const version = "2025-06-18";
  const outputs = new ToolOutputs(version);
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "array",
    items: { $ref: "#/$defs/item" },
    $defs: { item: { anyOf: [{ type: "string" }, { $ref: "#" }, { $ref: "#named" }, { const: { $ref: "#/x" } }] } },
  };
  const tools = [
    { name: "list", inputSchema: {}, outputSchema: schema, execution: { taskSupport: "optional" } },
    { name: "either", inputSchema: {}, outputSchema: { anyOf: [{ type: "object" }] } },
    { name: "plain", inputSchema: {}, outputSchema: { type: "object" } },
  ];
  const around = { version, outputs } as const;
  expect(legacyResult({ method: "tools/list", params: {} }, { tools }, around)["tools"]).toEqual([
    {
      name: "list",
      inputSchema: {},
      outputSchema: {
        $schema: schema.$schema,
        type: "object",
        properties: {
          result: {
            type: "array",
            items: { $ref: "#/properties/result/$defs/item" },
            $defs: {
              item: {
                anyOf: [
                  { type: "string" },
                  { $ref: "#/properties/result" },
                  { $ref: "#named" },
                  { const: { $ref: "#/x" } },
                ],
              },
            },
          },
        },
        required: ["result"],
      },
    },
    {
      name: "either",
      inputSchema: {},
      outputSchema: {
        type: "object",
        properties: { result: { anyOf: [{ type: "object" }] } },
        required: ["result"],
      },
    },
    { name: "plain", inputSchema: {}, outputSchema: { type: "object" } },
  ]);
  const structured = (name: string, structuredContent: unknown) =>
    legacyResult({ method: "tools/call", params: { name } }, { content: [], structuredContent }, around)[
      "structuredContent"
    ];
  expect(structured("list", [1])).toEqual({ result: [1] });
  expect(structured("either", { a: 1 })).toEqual({ result: { a: 1 } });
  expect(structured("plain", { a: 1 })).toEqual({ a: 1 });
  expect(structured("never listed", null)).toEqual({ result: null });
});

test("before 2025-06-18 structured output is told as text, unless there is text", () => {
  const structuredContent = { a: [1] };
  expect(shown("tools/call", { content: [], structuredContent }, "2025-03-26")).toEqual({
    content: [{ type: "text", text: '{"a":[1]}' }],
  });
  const content = [{ type: "text", text: "a is 1" }];
  expect(shown("tools/call", { content, structuredContent }, "2024-11-05")).toEqual({ content });
  const tools = [{ name: "t", inputSchema: {}, outputSchema: { type: "object" } }];
  expect(shown("tools/list", { tools }, "2025-03-26")["tools"]).toEqual([{ name: "t", inputSchema: {} }]);
});

test("failures have codes that the revision knows", () => {
  const fail = (code: number, method: string, version: LegacyRevision = "2025-11-25", data?: unknown) => {
    const rpc = { code, message: "No", ...(data === undefined ? {} : { data }) };
    return legacyFailure(new NexusError("SERVER_ERROR", "No", { rpc }), { method, params: { uri: "a:b" } }, version);
  };
  expect(fail(-32602, "resources/read")).toEqual({ error: { code: -32002, message: "No" } });
  expect(fail(-32602, "tools/call")).toEqual({ error: { code: -32602, message: "No" } });
  expect(fail(-32020, "tools/call")).toMatchObject({ error: { code: -32603, data: { code: -32020 } } });
  const required = { requiredCapabilities: { elicitation: { url: {} } } };
  expect(fail(-32021, "tools/call", "2025-06-18", required)).toEqual({
    result: { content: [{ type: "text", text: "This requires a client with elicitation.url: No" }], isError: true },
  });
  expect(fail(-32021, "prompts/get", "2025-06-18", required)).toMatchObject({
    error: { code: -32603, message: "This requires a client with elicitation.url: No", data: required },
  });
  for (const version of LEGACY_REVISIONS) {
    const code = version === "2025-11-25" ? -32042 : -32603;
    expect(fail(-32042, "tools/call", version)).toMatchObject({ error: { code } });
  }
});
