import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compressed, pdfLines, pdfOf, pdfOfObjects } from "../../fixtures/workshop/pdf-writer.ts";
import { cases } from "../../fixtures/depth.ts";
import { measuredImport } from "./measured-import.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-bombs-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const inflated = () => deflateSync(Buffer.alloc(256 * 1024 * 1024, " "), { level: 9 });
const page = (content: Buffer, resources = "<< /Font << /F1 4 0 R >> >>", more: (string | Buffer)[] = []) =>
  pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources ${resources} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    content,
    ...more,
  ]);
const twice = (child: number) =>
  `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${child} 0 R >> >> /Length 11 >>\nstream\n/X Do /X Do\nendstream`;

/** Names with their documents, made when they are used. */
const BOMBS: Record<string, () => string | Uint8Array> = {
  "blanks behind a status.md": () => `# Errors\n\n- 404${" ".repeat(100_000)}x\n\nGET /pets\n`,
  "digits.txt": () => `The manual of an API.\n\nGET https://pets.test/v1/pets\n\n${"0".repeat(300_000)}\n`,
  "questions.md": () => `# API\n\nGET https://pets.test/v1/pets\n\n${`${"a?".repeat(2_500)}\n\n`.repeat(60)}`,
  "slashes.txt": () => `The manual of an API.\n\nGET https://pets.test/v1/pets\n\n${"https://".repeat(40_000)}\n`,
  "open brackets.txt": () => `The manual of an API.\n\nGET https://pets.test/v1/pets\n\n${"/(".repeat(150_000)}\n`,
  "a word in what is not YAML": () => `a: ]\n${"w".repeat(300_000)}\n`,
  "inflates.pdf": () => page(compressed(inflated())),
  "glyphs.pdf": () => page(compressed(deflateSync(`BT /F1 10 Tf 10 10 Td ${"(abc) Tj 5 0 Td ".repeat(1_000_000)}ET`))),
  "doubles.pdf": () =>
    page(
      compressed(deflateSync("/X Do")),
      "<< /XObject << /X 6 0 R >> >>",
      Array.from({ length: 30 }, (_, i) => twice(7 + (i % 29))),
    ),
  "pages.pdf": () =>
    pdfOfObjects([
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Kids [${Array.from({ length: 100_000 }, (_, i) => `${3 + i} 0 R`).join(" ")}] /Count 100000 >>`,
      ...Array.from({ length: 100_000 }, () => "<< /Type /Page /Parent 2 0 R >>"),
    ]),
  "circle.pdf": () =>
    pdfOfObjects(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>"]),
  "brackets.pdf": () => pdfOfObjects([`<< /Type /Catalog /A ${"[".repeat(1_000_000)} >>`]),
  "nested.html": () => `<!doctype html><body>${"<div>".repeat(1_000_000)}`,
  "attribute.html": () => `<!doctype html><p title="${"x".repeat(31 * 1024 * 1024)}">a</p>`,
  "copies.html": () =>
    `<!doctype html>${Array.from({ length: 3000 }, (_, i) => `<b a=${i}>`).join("")}${"<p>x</p>".repeat(3000)}`,
  "emphasis.md": () => `# API\n\n${"*a **b ".repeat(200_000)}`,
  "links.md": () => `# API\n\n${"[a](".repeat(300_000)}`,
  "quotes.md": () => `# API\n\n${">".repeat(500_000)}a`,
  "table.md": () =>
    `# API\n\n${"|a".repeat(20_000)}|\n${"|-".repeat(20_000)}|\n${`${"|b".repeat(20_000)}|\n`.repeat(50)}`,
  "open.txt": () => `The manual of an API.\n\n${"[\n".repeat(500_000)}`,
  "zip.md": () => Buffer.concat([Buffer.from("504b0304", "hex"), inflated()]),
  "gzip.json": () => gzipSync(Buffer.alloc(64 * 1024 * 1024)),
  "entities.xml": () =>
    `<?xml version="1.0"?><!DOCTYPE a [${Array.from({ length: 30 }, (_, i) => `<!ENTITY e${i} "&e${i + 1};&e${i + 1};">`).join("")}]><definitions xmlns="http://schemas.xmlsoap.org/wsdl/">&e0;</definitions>`,
};

describe("X5: hostile documents are refused or read within 5 s and 200 MB", () => {
  test.for(cases(Object.keys(BOMBS)))("%s", { timeout: 90_000 }, async (name) => {
    const { code, cpuMs, mb, stderr } = await measuredImport(folder, name, BOMBS[name]?.() ?? "");
    expect([0, 3], stderr.slice(0, 500)).toContain(code);
    expect(cpuMs).toBeLessThan(5_000);
    expect(mb).toBeLessThan(200);
  });
});

test("a PDF of 100 pages is read within the same limits", { timeout: 90_000 }, async () => {
  const lines = Array.from({ length: 40 }, (_, line) => `Line ${line}: GET /pets gives all pets with their names.`);
  const { stderr, mb } = await measuredImport(
    folder,
    "manual.pdf",
    pdfOf(Array.from({ length: 100 }, () => pdfLines(lines))),
  );
  expect(stderr).not.toContain("allowed");
  expect(mb).toBeLessThan(200);
});
