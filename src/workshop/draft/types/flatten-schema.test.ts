import { expect, test } from "vitest";
import { parseDocument } from "../../documents/parse-document.ts";
import { readOpenApi } from "../../documents/openapi/read-openapi.ts";
import { flattenSchema } from "./flatten-schema.ts";

function schemaOf(schemas: Record<string, unknown>, name: string) {
  const document = {
    openapi: "3.1.0",
    info: { title: "Parts", version: "1" },
    paths: {
      "/a": {
        post: {
          requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } },
          responses: {},
        },
      },
    },
    components: { schemas },
  };
  const { operations } = readOpenApi(parseDocument(JSON.stringify(document), "openapi"));
  return operations[0]?.body?.contents[0]?.schema ?? expect.fail("no schema");
}

test("parts that are named twice at each level do not multiply", () => {
  const schemas: Record<string, unknown> = { S0: { type: "object", properties: { id: { type: "string" } } } };
  for (let level = 1; level <= 60; level++) {
    const before = { $ref: `#/components/schemas/S${level - 1}` };
    schemas[`S${level}`] = { allOf: [before, { allOf: [before, { type: "object" }] }, before] };
  }
  expect(flattenSchema(schemaOf(schemas, "S10")).facts.properties.has("id")).toBe(true);
  expect(flattenSchema(schemaOf(schemas, "S60")).facts.allOf).toEqual([]);
});

test("the members of all parts are those of the schema, and what a part requires is required", () => {
  const schemas = {
    Named: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    Pet: {
      allOf: [{ $ref: "#/components/schemas/Named" }, { type: "object", properties: { age: { type: "integer" } } }],
    },
  };
  const { facts, parts, conflicts } = flattenSchema(schemaOf(schemas, "Pet"));
  expect([...facts.properties.keys()]).toEqual(["name", "age"]);
  expect([...facts.required]).toEqual(["name"]);
  expect(parts.map(({ schema }) => schema.name)).toEqual(["Named"]);
  expect(conflicts).toEqual([]);
});
