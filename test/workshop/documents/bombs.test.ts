import { describe, expect, test } from "vitest";
import { NexusError } from "../../../src/errors/nexus-error.ts";
import { readOpenApi } from "../../../src/workshop/documents/openapi/read-openapi.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";

const MOST_MS = 5_000;
const MOST_BYTES = 200 * 1024 * 1024;

const START = "openapi: 3.1.0\n";
const levels = (count: number, line: (level: number) => string) =>
  Array.from({ length: count }, (_, level) => line(level)).join("\n");
const nine = (name: string) => Array(9).fill(name).join(", ");

const BOMBS: Record<string, () => string> = {
  "aliases of aliases in lists": () =>
    `${START}l0: &l0 x\n${levels(12, (n) => `l${n + 1}: &l${n + 1} [${nine(`*l${n}`)}]`)}\n`,
  "aliases of aliases that only the library reads": () =>
    `${START}l0: &l0 !!str x\n${levels(12, (n) => `l${n + 1}: &l${n + 1} [${nine(`*l${n}`)}]`)}\n`,
  "merges of merges": () =>
    `${START}l0: &l0 { a: 1 }\n${levels(12, (n) => `l${n + 1}: &l${n + 1} { <<: *l${n}, k${n}: [${nine(`*l${n}`)}] }`)}\n`,
  "brackets that never end": () => `${START}a: ${"[".repeat(1_000_000)}`,
  "deep lists": () => `${START}a: ${"[".repeat(100_000)}${"]".repeat(100_000)}\n`,
  "deep JSON": () => `{"openapi":"3.1.0","a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`,
  "deep block maps": () => `${START}${levels(3_000, (n) => `${" ".repeat(n)}a:`)}\n`,
  "lists in lists in one line": () => `${START}a:\n  ${"- ".repeat(100_000)}x\n`,
  "many empty objects in JSON": () => `{"openapi":"3.1.0","a":[${"{},".repeat(10_000_000)}1]}`,
  "many empty lists in YAML": () => `${START}a: [${"[],".repeat(8_000_000)}1]\n`,
  "many tagged values": () => `${START}a:\n${"- !!str x\n".repeat(2_000_000)}`,
  "many anchors and aliases": () => `${START}a:\n${"- &a x\n- *a\n".repeat(2_000_000)}`,
  "too many characters": () => `${START}a: ${"x".repeat(33 * 1024 * 1024)}\n`,
};

const HANDLED: Record<string, () => unknown> = {
  "a long chain of references": () => ({
    paths: { "/a": { get: { parameters: [{ $ref: "#/components/parameters/p0" }] } } },
    components: {
      parameters: Object.fromEntries(
        Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { $ref: `#/components/parameters/p${n + 1}` }]),
      ),
    },
  }),
  "pointers through references that lead through references": () => ({
    paths: { "/a": { get: { parameters: [{ $ref: "#/x40/p/q" }] } } },
    ...Object.fromEntries(
      Array.from({ length: 41 }, (_, n) => [`x${n}`, { $ref: `#/x${n - 1}/p/q`, y: { $ref: `#/x${n - 1}/q/p` } }]),
    ),
  }),
  "schemas that contain each other twice": () => ({
    paths: {
      "/a": {
        post: { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/s0" } } } } },
      },
    },
    components: {
      schemas: Object.fromEntries(
        Array.from({ length: 5_000 }, (_, n) => {
          const next = { $ref: `#/components/schemas/s${(n + 1) % 5_000}` };
          return [`s${n}`, { allOf: [next, next], properties: { a: next, b: { oneOf: [next, { type: "null" }] } } }];
        }),
      ),
    },
  }),
  "a path with many braces": () => ({
    paths: { [`/${"{a}".repeat(20_000)}`]: { get: {} }, [`/${"{".repeat(50_000)}`]: { get: {} } },
  }),
  "a pattern of many escapes": () => ({
    paths: {
      "/a": { get: { parameters: [{ name: "q", in: "query", schema: { pattern: `${"\\-".repeat(100_000)}(` } }] } },
    },
  }),
};

/** With the processor time, which other programs on the machine do not change. */
function measured<T>(work: () => T): { result: T; ms: number } {
  const start = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(start);
  return { result, ms: (user + system) / 1_000 };
}

function parse(text: string): unknown {
  try {
    return parseDocument(text, "bomb");
  } catch (error) {
    return error;
  }
}

describe("documents that are made to exhaust the reader", () => {
  test.each(Object.entries(BOMBS))("%s are refused in a short time", (_name, make) => {
    const text = make();
    const before = process.memoryUsage();
    const { result, ms } = measured(() => parse(text));
    const after = process.memoryUsage();
    expect(result).toBeInstanceOf(NexusError);
    expect(String(result)).toMatch(/The document bomb (?:has|is) .*, the limit/);
    expect(result).toMatchObject({ code: "CONFIG_INVALID", hint: expect.stringMatching(/\w/) as string });
    expect(ms).toBeLessThan(MOST_MS);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(MOST_BYTES);
  });

  test.each(Object.entries(HANDLED))("%s is read in a short time", (_name, make) => {
    const text = JSON.stringify({ openapi: "3.1.0", ...(make() as object) });
    const { result, ms } = measured(() => {
      const facts = readOpenApi(parseDocument(text, "bomb"));
      const contents = facts.operations.flatMap(({ body }) => body?.contents ?? []);
      for (const { schema } of contents) JSON.stringify(schema?.asJsonSchema());
      return facts;
    });
    expect(result.operations.length + result.omitted.length).toBeGreaterThan(0);
    expect(ms).toBeLessThan(MOST_MS);
  });
});
