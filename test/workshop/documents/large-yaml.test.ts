import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { measuredImport } from "./measured-import.ts";

const OPERATIONS = 288;
const FIELDS = 30;

/** Texts in all forms, comments, flow maps and references, as descriptions that people keep by hand have them. */
function largeDescription(more: string): string {
  const lines = ["openapi: 3.1.0", `info: { title: Large, version: "1" } # one of many`, "paths:"];
  for (let at = 0; at < OPERATIONS; at++) {
    lines.push(
      `  /things${at}/{id}:`,
      "    post:",
      `      summary: "Does ${at}: \\"quoted\\" and more"`,
      "      description: >",
      `        Folded text about ${at},`,
      "        with [links](https://a.example/#b): and colons.",
      "",
      "        Another paragraph.",
      "      parameters:",
      "        - { in: path, name: id, required: true, schema: { type: string, minLength: 1 } }",
      "      # A comment.",
      "      responses: { '200': { description: OK } }",
      "      x-request: |",
      ...Array.from({ length: 24 }, (_, line) => `        curl -d '{ "model": "m-${line}", "n": [${at}] }' # ${line}`),
    );
  }
  lines.push("components:", "  schemas:");
  for (let at = 0; at < OPERATIONS; at++) {
    lines.push(`    Thing${at}:`, "      description: It has", "        a text that goes on.", "      properties:");
    for (let field = 0; field < FIELDS; field++) {
      lines.push(
        `        field_${field}:`,
        "          anyOf:",
        `            - { type: string, enum: [a, 'b', "c d"] }`,
        `            - $ref: "#/components/schemas/Thing${(at + field) % OPERATIONS}"`,
        "            - type: 'null'",
        "          description: |-",
        `            Field ${field}. See [the guide](https://large.example/${at}).`,
      );
    }
  }
  return `${lines.join("\n")}\n${more}`;
}

test("X5: a description of 3 MB in YAML is read with its values and lines, also if only the careful reader reads it", () => {
  const twice = "x-a: 1\nx-b: &b 2\nx-a: *b\n";
  const text = largeDescription(twice);
  expect(text.length).toBeGreaterThan(2_700_000);
  const simple = parseDocument(text, "large");
  // The quick reader reads no tags.
  const careful = parseDocument(largeDescription(twice.replace("&b", "&b !!int")), "large");
  // As text: the difference of such values would take long to be shown.
  expect(JSON.stringify(careful.value) === JSON.stringify(simple.value)).toBe(true);
  expect(careful.remarks).toEqual([
    `The key "x-a" is twice in one object (line ${text.split("\n").length - 1}); the last one counts`,
  ]);
  expect(careful.remarks).toEqual(simple.remarks);
  expect(Object.keys((careful.value as { paths: object }).paths)).toHaveLength(OPERATIONS);
});

// The program measures itself with /proc.
test.runIf(process.platform === "linux")(
  "X5: a description of 3 MB in YAML is imported within 10 s of processor time and 1 GB",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "nexus-large-"));
    try {
      const { code, stderr, cpuMs, mb } = await measuredImport(folder, "large.yaml", largeDescription(""));
      expect(code, stderr).toBe(0);
      expect(cpuMs).toBeLessThan(10_000);
      expect(mb).toBeLessThan(1_000);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
