import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compare } from "./compare.mjs";
import { importOne } from "./import-one.ts";
import { countOperations } from "./independent-reader.mjs";

const FORM = "application/x-www-form-urlencoded";
const CLOSED = { type: "object", properties: {}, additionalProperties: false };

/** Each path with its body, and what the independent reader counts in it. */
const BODIES: Record<string, { body: object; counted: number }> = {
  "/closed-form": { body: { content: { [FORM]: { encoding: {}, schema: CLOSED } } }, counted: 0 },
  "/closed-json": { body: { content: { "application/json": { schema: CLOSED } } }, counted: 0 },
  "/referred": { body: { content: { [FORM]: { schema: { $ref: "#/components/schemas/None" } } } }, counted: 0 },
  "/open-form": { body: { content: { [FORM]: { schema: { type: "object", properties: {} } } } }, counted: 0 },
  "/free-json": { body: { content: { "application/json": { schema: { type: "object" } } } }, counted: 1 },
  "/required": { body: { required: true, content: { [FORM]: { schema: CLOSED } } }, counted: 1 },
  "/members": { body: { content: { [FORM]: { schema: { properties: { a: {}, b: {} } } } } }, counted: 2 },
};

test("the importer and the independent reader agree about bodies that carry nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nexus-bodies-"));
  try {
    const paths = Object.entries(BODIES).map(([path, { body }]) => [
      path,
      { get: { requestBody: body, responses: {} } },
    ]);
    const path = join(folder, "openapi.json");
    const components = { schemas: { None: CLOSED } };
    const info = { title: "Bodies", version: "1" };
    writeFileSync(path, JSON.stringify({ openapi: "3.0.3", info, paths: Object.fromEntries(paths), components }));
    const operations = countOperations(path);
    const { lost, unaccounted, counted } = compare(operations, await importOne(path, { compile: true }));
    expect({ lost, unaccounted }).toEqual({ lost: [], unaccounted: [] });
    expect(counted).toBe(Object.values(BODIES).reduce((sum, each) => sum + each.counted, 0));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
