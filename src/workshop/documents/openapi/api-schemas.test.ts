import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { SchemaFacts } from "../api-facts.ts";
import { parseDocument } from "../parse-document.ts";
import { ApiDocument } from "./api-document.ts";
import { ApiSchemas } from "./api-schemas.ts";

const VERSIONS = { "2.0": { swagger: "2.0" }, "3.0": { openapi: "3.0.3" }, "3.1": { openapi: "3.1.0" } };

function opened(schemas: Record<string, unknown>, version: keyof typeof VERSIONS = "3.1") {
  const place = version === "2.0" ? { definitions: schemas } : { components: { schemas } };
  const document = new ApiDocument(parseDocument(JSON.stringify({ ...VERSIONS[version], ...place }), "doc"));
  const base = version === "2.0" ? "/definitions" : "/components/schemas";
  const reader = new ApiSchemas(document);
  const schema = (name: string) => reader.schema({ value: schemas[name], pointer: `${base}/${name}` });
  return { document, schema };
}

function schemaOf(
  schema: unknown,
  version: keyof typeof VERSIONS = "3.1",
  more: Record<string, unknown> = {},
): SchemaFacts {
  return opened({ S: schema, ...more }, version).schema("S");
}

describe("a schema of an OpenAPI description", () => {
  test("null is understood in every spelling", () => {
    expect(schemaOf({ type: "string", nullable: true }, "3.0")).toMatchObject({ types: ["string"], nullable: true });
    expect(schemaOf({ type: "string", "x-nullable": true }, "2.0")).toMatchObject({ nullable: true });
    expect(schemaOf({ type: ["string", "null"] })).toMatchObject({ types: ["string"], nullable: true });
    expect(schemaOf({ type: "string", enum: ["a", null] })).toMatchObject({ enum: ["a"], nullable: true });
    expect(schemaOf({ type: "null" })).toMatchObject({ types: [], nullable: true, const: null });
    const nullablePet = schemaOf({ anyOf: [{ $ref: "#/components/schemas/Pet" }, { type: "null" }] }, "3.1", {
      Pet: { type: "object" },
    });
    expect(nullablePet).toMatchObject({ name: "Pet", nullable: true, evidence: "doc#/components/schemas/Pet" });
    const combined = schemaOf({ nullable: true, allOf: [{ $ref: "#/components/schemas/Pet" }] }, "3.0", {
      Pet: { type: "object" },
    });
    expect(combined).toMatchObject({ name: "Pet", nullable: true });
    const union = schemaOf({ oneOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] });
    expect([union.nullable, union.oneOf.length]).toEqual([true, 2]);
  });

  test("exclusive limits of old versions become numbers", () => {
    expect(schemaOf({ minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }, "2.0")).toMatchObject({
      exclusiveMinimum: 0,
      maximum: 9,
    });
    expect(schemaOf({ minimum: 0, exclusiveMinimum: true }, "2.0")).not.toHaveProperty("minimum");
    expect(schemaOf({ exclusiveMinimum: 1.5 })).toMatchObject({ exclusiveMinimum: 1.5 });
  });

  test("tuples are read in the old and in the new spelling", () => {
    const old = schemaOf({ type: "array", items: [{ type: "string" }], additionalItems: { type: "integer" } }, "2.0");
    expect(old.prefixItems[0]?.().types).toEqual(["string"]);
    expect(old.items?.().types).toEqual(["integer"]);
    const closed = schemaOf({ prefixItems: [{ type: "string" }], items: false });
    expect(closed).toMatchObject({ types: ["array"], maxItems: 1 });
  });

  test("in 3.1 siblings of a reference count; before, only those that describe", () => {
    const written = { $ref: "#/components/schemas/Pet", description: "mine", minProperties: 1 };
    const Pet = { type: "object", description: "a pet" };
    const modern = schemaOf(written, "3.1", { Pet });
    expect(modern).toMatchObject({ description: "mine", minProperties: 1, evidence: "doc#/components/schemas/S" });
    expect(modern.allOf[0]?.().name).toBe("Pet");
    const old = schemaOf(written, "3.0", { Pet });
    expect(old).toMatchObject({ name: "Pet", description: "mine" });
    expect(old).not.toHaveProperty("minProperties");
  });

  test("references are found by escaped and encoded pointers, by id and by anchor", () => {
    const more = {
      "a/b ~c": { type: "integer" },
      Id: {
        $id: "https://a.example/id",
        $defs: { In: { $anchor: "here", type: "boolean" } },
        properties: { x: { $ref: "#/$defs/In" } },
      },
    };
    const types = (ref: string) => schemaOf({ $ref: ref }, "3.1", more).types;
    expect(types("#/components/schemas/a~1b%20~0c")).toEqual(["integer"]);
    expect(types("#/components/schemas/a~1b ~0c")).toEqual(["integer"]);
    expect(types("#here")).toEqual(["boolean"]);
    expect(types("https://a.example/id#/$defs/In")).toEqual(["boolean"]);
    expect(schemaOf({ $ref: "https://a.example/id" }, "3.1", more).properties.get("x")?.().types).toEqual(["boolean"]);
  });

  test("circles and references that lead nowhere accept anything and are remarked", () => {
    const { schema, document } = opened({
      A: { $ref: "#/components/schemas/B" },
      B: { $ref: "#/components/schemas/A" },
      C: { $ref: "#/components/schemas/None" },
      D: { $ref: "#/components/schemas/D" },
      E: { anyOf: [{ $ref: "#/components/schemas/E" }] },
    });
    for (const name of ["A", "C", "D", "E"]) expect(schema(name).types).toEqual([]);
    expect(document.remarks.map(({ text }) => text)).toContain(
      "#/components/schemas/None refers to a part that does not exist or is not loaded; anything is accepted",
    );
  });

  test("a recursive schema is the same object each time", () => {
    const { schema } = opened({ Node: { properties: { next: { $ref: "#/components/schemas/Node" } } } });
    const node = schema("Node");
    expect(node.properties.get("next")?.()).toBe(node);
    expect(node.types).toEqual(["object"]);
  });

  test("discriminators have the schemas of their values", () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const more = { Cat: { type: "object" }, Dog: { type: "object" } };
    const written = {
      oneOf: [ref("Cat"), ref("Dog")],
      discriminator: { propertyName: "kind", mapping: { c: "Cat", d: "#/components/schemas/Dog", x: "None" } },
    };
    const mapping = (facts: SchemaFacts) =>
      Object.entries(facts.discriminator?.mapping ?? {}).map(([value, read]) => `${value} ${read().name}`);
    expect(mapping(schemaOf(written, "3.1", more))).toEqual(["c Cat", "d Dog"]);
    const bare = { oneOf: [ref("Cat"), ref("Dog")], discriminator: { propertyName: "kind" } };
    expect(mapping(schemaOf(bare, "3.1", more))).toEqual(["Cat Cat", "Dog Dog"]);
    expect(schemaOf({ discriminator: "kind" }, "2.0").discriminator).toEqual({ property: "kind", mapping: {} });
  });

  test("patterns are repaired or left out", () => {
    expect(schemaOf({ pattern: "^[a-z\\-]+\\-\\@$" }).pattern).toBe("^[a-z\\-]+-@$");
    expect(schemaOf({ pattern: "/^\\d+$/i" }).pattern).toBe("^\\d+$");
    expect(schemaOf({ pattern: "(?P<x>a)" })).not.toHaveProperty("pattern");
  });

  test("types that are not types are understood where their meaning is plain", () => {
    expect(schemaOf({ type: "file" }, "2.0")).toMatchObject({ types: ["string"], format: "binary" });
    expect(schemaOf({ type: "Int64" })).toMatchObject({ types: ["integer"], format: "int64" });
    expect(schemaOf({ type: "strange" }).types).toEqual([]);
    expect(schemaOf({ type: "string", contentMediaType: "image/png" }).format).toBe("binary");
  });

  test("additional members are undeclared, any, none or described", () => {
    const additional = (value: unknown) => schemaOf({ type: "object", additionalProperties: value }).additional;
    expect([additional(undefined), additional(true), additional({}), additional(false)]).toEqual([
      "undeclared",
      "any",
      "any",
      "none",
    ]);
    expect(additional({ type: "string" })).toBeTypeOf("function");
    expect(schemaOf({ type: "object", unevaluatedProperties: false }).additional).toBe("none");
  });

  test.each([null, 7, "text", [], [null]])("%j as a keyword or a schema never fails", (odd) => {
    const names = [
      "type",
      "enum",
      "items",
      "properties",
      "required",
      "allOf",
      "oneOf",
      "discriminator",
      "xml",
      "pattern",
    ];
    const facts = schemaOf(Object.fromEntries([...names, "$ref", "additionalProperties"].map((name) => [name, odd])));
    expect(facts.asJsonSchema()).toBeTypeOf("object");
    expect(schemaOf(odd).asJsonSchema()).toBeTypeOf("object");
  });

  test("it is written as JSON Schema 2020-12 with the definitions that it needs", () => {
    const { schema } = opened(
      {
        Tree: {
          type: "object",
          properties: {
            children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
            kind: { type: "string", enum: ["a"], nullable: true, example: "a" },
            other: { nullable: true, allOf: [{ $ref: "#/components/schemas/Tree" }] },
            size: { type: "number", minimum: 0, exclusiveMinimum: true },
          },
        },
        Other: { type: "object", properties: { gone: { $ref: "#/nowhere" } } },
      },
      "3.0",
    );
    const written = schema("Tree").asJsonSchema();
    expect(written).toMatchObject({
      properties: {
        children: { items: { $ref: "#/$defs/Tree" } },
        kind: { type: ["string", "null"], enum: ["a", null] },
        other: { anyOf: [{ allOf: [{ $ref: "#/$defs/Tree" }] }, { type: "null" }] },
        size: { exclusiveMinimum: 0 },
      },
    });
    const check = new Ajv2020({ strict: false }).compile(written);
    expect(check({ children: [{ kind: null, other: null }] })).toBe(true);
    expect(check({ children: [{ size: 0 }] })).toBe(false);
  });
});
