import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { MANUAL, smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import { sha256 } from "../../text/digest.ts";
import { hashOf } from "./approved-form.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { compileApi } from "./compile.ts";

function sound() {
  const file = smallFile();
  Object.assign(file.documents["manual"] ?? {}, { sha256: sha256(MANUAL) });
  return file;
}

const compiled = (file = sound()) => compileApi(file, { manual: MANUAL });

describe("X2: a tool as clients see it", () => {
  test("has the fields that a caller sets, and none that are set automatically", () => {
    const schema = compiled().api.tools["find"]?.inputSchema;
    expect(schema).toEqual({
      type: "object",
      properties: {
        q: { type: "string", maxLength: 20, description: "A word." },
        sort: { type: "string", enum: ["name", "price"], default: "name" },
        day: { type: "string", format: "date" },
        includeSourcePayload: { type: "boolean", description: expect.any(String) },
      },
      required: ["q"],
      additionalProperties: false,
    });
  });

  test("has read and computed fields in results, requires only those that are always present, and references recursive types", () => {
    const schema = compiled().api.tools["find"]?.outputSchema as Record<string, never>;
    expect(Object.keys(schema["properties"] ?? {})).toEqual(["count", "currency", "items", "deviations"]);
    expect(schema["required"]).toEqual(["currency", "items"]);
    expect(schema["$defs"]).toEqual({
      Item: {
        type: "object",
        description: "A thing.",
        properties: { name: { type: "string" }, parts: { type: "array", items: { $ref: "#/$defs/Item" } } },
        required: ["parts"],
      },
    });
    const accepts = new Ajv2020({ strict: true }).compile(schema);
    const thing = { name: "longer than five", parts: [{ parts: [] }] };
    expect(accepts({ count: 1, currency: "EUR", items: [thing] })).toBe(true);
    expect(accepts({ currency: "EUR", items: [{ parts: "none" }] })).toBe(false);
  });

  test("has annotations by its effect, and version, owner, category and safety in _meta", () => {
    const tools = compiled().api.tools;
    expect(tools["find"]?.annotations).toEqual({ title: "Find things", readOnlyHint: true, openWorldHint: true });
    expect(tools["find"]?._meta).toEqual({
      "dev.nexus/version": "1.0.0",
      "dev.nexus/effect": "read",
      "dev.nexus/owner": "shop team",
      "dev.nexus/category": "search",
      "dev.nexus/safety": "reads only",
    });
  });

  test.each([
    ["write", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["destructive", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ] as const)("with the effect %s says so", (effect, hints) => {
    const file = sound();
    Object.assign(file.tools["find"] ?? {}, { effect });
    expect(compiled(file).api.tools["find"]?.annotations).toMatchObject(hints);
  });
});

describe("the hash", () => {
  test("covers everything but the checks, in any order of tools and types; in format 1 not the fake either", () => {
    const file = sound();
    const { api } = compiled(file);
    const reordered = { ...file, types: Object.fromEntries(Object.entries(file.types).toReversed()) };
    const tried = { ...file, fake: { secrets: {}, tables: { t: [{}] }, tools: {} } };
    expect(api.hash).toBe(hashOf(api));
    expect(compiled(reordered).api.hash).toBe(api.hash);
    expect(compiled(tried).api.hash).not.toBe(api.hash);
    const first = (of: ToolFile) => compileApi(of, { manual: MANUAL }, { format: 1 }).api;
    expect(first(tried).hash).toBe(first(file).hash);
    expect(first(file)).toMatchObject({ format: 1, file: { fake: { tables: {}, tools: {} } } });
    const checked = sound();
    Object.assign(checked.tools["find"] ?? {}, { checks: [] });
    expect(compiled(checked).api.hash).toBe(api.hash);
  });

  test("changes with the order of fields, which is the order on the wire", () => {
    const file = sound();
    const query = file.types["Query"];
    if (query) query.fields = Object.fromEntries(Object.entries(query.fields).toReversed());
    expect(compiled(file).api.hash).not.toBe(compiled().api.hash);
  });
});

describe("evidence", () => {
  test("becomes citations with their heading and text", () => {
    const { citations } = compiled().api;
    expect(citations["manual#L4"]).toMatchObject({ document: "manual", from: 4, to: 4, heading: "Search" });
    expect(citations["manual#L3-L4"]?.sha256).toBe(sha256("## Search\nAsk with q, at most 20 letters."));
  });

  test("is an error if it is not in the document, or the document has changed or is missing", () => {
    const file = sound();
    Object.assign(file.tools["find"] ?? {}, { evidence: ["manual#L99"] });
    const problems = compileApi(file, { manual: `${MANUAL}!` }).problems;
    expect(problems).toEqual([
      expect.objectContaining({ path: "documents.manual.sha256", severity: "error" }),
      expect.objectContaining({ message: expect.stringContaining("manual#L99"), severity: "error" }),
    ]);
    expect(compileApi(sound(), {}).problems[0]).toMatchObject({ message: expect.stringContaining("manual.md") });
  });
});

test("a definition that is too long for a model is an error that says by how much", () => {
  const file = sound();
  Object.assign(file.tools["find"] ?? {}, { description: "long ".repeat(3_000) });
  expect(compiled(file).problems).toEqual([
    expect.objectContaining({
      path: "tools.find",
      message: expect.stringMatching(/has 1\d{4} bytes, 12288 are allowed/),
    }),
  ]);
});
