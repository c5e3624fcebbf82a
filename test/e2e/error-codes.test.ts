import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../src/cli/output/exit-codes.ts";
import { NexusError, type ErrorCode } from "../../src/index.ts";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

/** The codes as the source has them. */
async function codesInSource(): Promise<ErrorCode[]> {
  const source = await read("src/errors/nexus-error.ts");
  const [, union = ""] = /export type ErrorCode =([^;]+);/.exec(source) ?? [];
  return [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code as ErrorCode);
}

/** The chapters of the document: a code, and what stands below it. */
async function chapters(): Promise<[string, string][]> {
  const [, ...parts] = (await read("docs/errors.md")).split(/^### /m);
  return parts.map((part) => {
    const end = part.indexOf("\n");
    return [part.slice(0, end), part.slice(end)];
  });
}

test("every error code is documented, and no other (P1.9)", async () => {
  const documented = (await chapters()).map(([code]) => code);
  const codes = await codesInSource();
  expect(codes.length).toBeGreaterThan(20);
  expect(documented.toSorted()).toEqual(codes.toSorted());
});

test("the document names each code's exit code, and says what to do (P1.9)", async () => {
  for (const [code, text] of await chapters()) {
    expect(text, code).toContain(`Exit code ${exitCodeOf(new NexusError(code as ErrorCode, ""))}. `);
    expect(text, code).toMatch(/^- \S/m);
  }
});
