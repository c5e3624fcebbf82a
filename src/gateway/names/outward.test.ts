import { expect, test } from "vitest";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { outwardItem as outward, outwardResult } from "./names.ts";

const outwardItem = (server: string, kind: ListKind, item: Params) => outward(kind, item, { server });

test("G: names begin with the prefix of a server's entry, URIs with its id", () => {
  const naming = { server: "kit", prefix: "k" };
  expect(outward("tools", { name: "x" }, naming)).toEqual({ name: "k__x" });
  expect(outward("prompts", { name: "x" }, naming)).toEqual({ name: "k__x" });
  expect(outward("resources", { uri: "test://a" }, naming)).toEqual({ uri: "kit+test://a" });
});

const meta = { "example.org/uri": "test://kept", ui: { resourceUri: "ui://page", visibility: ["model"] } };

test("links, embedded resources and pages of a tool's result get full names, and nothing else", () => {
  const result = {
    resultType: "complete",
    content: [
      { type: "text", text: "see test://a", uri: "test://text" },
      { type: "resource_link", uri: "test://a", name: "a", annotations: { uri: "test://kept" } },
      { type: "resource", resource: { uri: "test://b", text: "uri: test://b" } },
      { type: "hologram", uri: "test://c", resource: { uri: "test://d" } },
      null,
    ],
    structuredContent: { uri: "test://a", name: "x" },
    _meta: meta,
  };
  const before = structuredClone(result);
  expect(outwardResult("kit", "tools/call", result)).toEqual({
    ...result,
    content: [
      result.content[0],
      { type: "resource_link", uri: "kit+test://a", name: "a", annotations: { uri: "test://kept" } },
      { type: "resource", resource: { uri: "kit+test://b", text: "uri: test://b" } },
      result.content[3],
      null,
    ],
    _meta: { ...meta, ui: { ...meta.ui, resourceUri: "kit+ui://page" } },
  });
  expect(result).toEqual(before);
});

test("a page of MCP Apps gets its full name in the older spelling too, with or without the newer one", () => {
  const both = { "ui/resourceUri": "ui://page", ui: { resourceUri: "ui://page" } };
  const full = { "ui/resourceUri": "kit+ui://page", ui: { resourceUri: "kit+ui://page" } };
  const old = { "ui/resourceUri": "ui://page", other: 1 };
  expect(outwardItem("kit", "tools", { name: "x", _meta: both })).toEqual({ name: "kit__x", _meta: full });
  expect(outwardItem("kit", "tools", { name: "x", _meta: old })).toEqual({
    name: "kit__x",
    _meta: { "ui/resourceUri": "kit+ui://page", other: 1 },
  });
  expect(outwardResult("kit", "tools/call", { content: [], _meta: old })).toMatchObject({
    _meta: { "ui/resourceUri": "kit+ui://page" },
  });
});

test("a result that needs no change is the same object", () => {
  const result = { content: [{ type: "text", text: "x" }], structuredContent: {}, _meta: { other: 1 } };
  expect(outwardResult("kit", "tools/call", result)).toBe(result);
  expect(outwardResult("kit", "completion/complete", result)).toBe(result);
  for (const odd of [{ content: "x" }, { content: null }, { messages: 1 }, { contents: {} }, {}]) {
    for (const method of ["tools/call", "prompts/get", "resources/read", "tasks/get"]) {
      expect(outwardResult("kit", method, odd)).toBe(odd);
    }
  }
});

test("resources in prompts get full names, in one block or several", () => {
  const link = { type: "resource_link", uri: "test://a" };
  const messages = [
    { role: "user", content: link },
    { role: "user", content: [link, { type: "text", text: "x" }] },
  ];
  const full = { type: "resource_link", uri: "kit+test://a" };
  expect(outwardResult("kit", "prompts/get", { messages })).toEqual({
    messages: [
      { role: "user", content: full },
      { role: "user", content: [full, { type: "text", text: "x" }] },
    ],
  });
});

test("the contents of a resource have full URIs", () => {
  const contents = [
    { uri: "test://a", text: "x" },
    { uri: "test://a/b", blob: "" },
  ];
  expect(outwardResult("kit", "resources/read", { contents })).toEqual({
    contents: [
      { uri: "kit+test://a", text: "x" },
      { uri: "kit+test://a/b", blob: "" },
    ],
  });
});

test("the answer of a task is rewritten like that of its call", () => {
  const result = { content: [{ type: "resource_link", uri: "test://a" }] };
  expect(outwardResult("kit", "tasks/get", { taskId: "1", status: "completed", result })).toEqual({
    taskId: "1",
    status: "completed",
    result: { content: [{ type: "resource_link", uri: "kit+test://a" }] },
  });
});

test("list items get full names; their titles stay", () => {
  expect(outwardItem("kit", "tools", { name: "x__y", title: "x", _meta: meta, inputSchema: {} })).toEqual({
    name: "kit__x__y",
    title: "x",
    _meta: { ...meta, ui: { ...meta.ui, resourceUri: "kit+ui://page" } },
    inputSchema: {},
  });
  expect(outwardItem("kit", "prompts", { name: "p" })).toEqual({ name: "kit__p" });
  expect(outwardItem("kit", "resources", { uri: "test://a", name: "a" })).toEqual({ uri: "kit+test://a", name: "a" });
  expect(outwardItem("kit", "resourceTemplates", { uriTemplate: "test://{id}", name: "t" })).toEqual({
    uriTemplate: "kit+test://{id}",
    name: "t",
  });
});
