import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "../../fixtures/depth.ts";
import { measuredImport, PROGRAM } from "./measured-import.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-sizes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const list = <T>(count: number, item: (index: number) => T) => Array.from({ length: count }, (_, index) => item(index));
const many = (count: number, text: (index: number) => string) => list(count, text).join("");
const collection = (item: object[]) =>
  JSON.stringify({
    info: { name: "x", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    item,
  });
const request = (more: object) => ({ name: "a", request: { method: "POST", url: "https://127.0.0.1:1/a", ...more } });
const word = (index: number) =>
  String(index)
    .split("")
    .map((digit) => "abcdefghij"[Number(digit)])
    .join("");

/** What is refused, with the reason that is given. */
const REFUSED: Record<string, [make: () => string, reason: RegExp]> = {
  "fields.graphql": [
    () => `type Query {\n${many(100_000, (i) => ` f${i}: Int\n`)}}`,
    /more than 10000 fields in the type Query/,
  ],
  "line.graphql": [
    () => `type Query { a: T0 } ${many(100_000, (i) => `type T${i} { a: Int } `)}`,
    /more than 25000 definitions/,
  ],
  "chain.graphql": [
    () => `type Query { a: T0 }\n${many(20_000, (i) => `type T${i} { a: T${i + 1} }\n`)}type T20000 { a: Int }`,
    /no part of its answer can be selected/,
  ],
  "operations.graphql": [() => `type Query {\n${many(9_000, (i) => ` f${i}: Int\n`)}}`, /9000 operations .* 3000/],
  "arguments.graphql": [() => `type Query { f(${many(9_000, (i) => `a${i}: Int\n`)}): Int }`, /9000 arguments.* 1000/],
  "steps.sh": [() => `curl https://127.0.0.1:1/${many(100_000, (i) => `${i}/`)}\n`, /more than 2000 parts/],
  "cookies.sh": [() => `curl https://127.0.0.1:1/ -b '${many(80_000, (i) => `c${i}=1; `)}'\n`, /more than 2000 parts/],
  "form.json": [
    () =>
      collection([
        request({ body: { mode: "urlencoded", urlencoded: list(100_000, (i) => ({ key: `q${i}`, value: "1" })) } }),
      ]),
    /more than 2000 entries/,
  ],
  "requests.json": [
    () => collection(list(4_000, (i) => request({ url: `https://127.0.0.1:1/${word(i)}` }))),
    /4000 operations .* 3000/,
  ],
};

/** What is read or left out, but not followed without end. */
const BOUNDED: Record<string, () => string> = {
  "variables.json": () =>
    JSON.stringify({
      ...(JSON.parse(collection([request({ url: `https://127.0.0.1:1/${"{{a}}/".repeat(1_500)}` })])) as object),
      variable: [{ key: "a", value: "x".repeat(1_000_000) }],
    }),
  "answers.json": () =>
    collection([
      { ...request({}), response: list(10_000, (i) => ({ code: 200, body: JSON.stringify({ [`k${i}`]: 1 }) })) },
    ]),
  "members.har": () =>
    JSON.stringify({
      log: {
        entries: list(10, (i) => ({
          request: { method: "GET", url: "https://127.0.0.1:1/a", headers: [] },
          response: {
            status: 200,
            content: {
              mimeType: "application/json",
              text: JSON.stringify(Object.fromEntries(list(1_000, (each) => [`${word(i)}_${word(each)}`, 1]))),
            },
          },
        })),
      },
    }),
  "all of each other.json": () => {
    const ref = (at: number) => ({ $ref: `#/components/schemas/S${at % 60}` });
    const member = (i: number) => ({ type: "object", properties: { [`p${i}`]: { type: "string" } } });
    const schemas = list(
      60,
      (i) => [`S${i}`, { allOf: [...list(30, (each) => ref(i + each + 1)), member(i)] }] as const,
    );
    const content = { "application/json": { schema: ref(0) } };
    const post = { requestBody: { content }, responses: { 200: { description: "x", content } } };
    return JSON.stringify({
      openapi: "3.1.0",
      info: { title: "all of each other", version: "1" },
      servers: [{ url: "https://pets.test/v1" }],
      paths: Object.fromEntries(list(50, (i) => [`/p${i}`, { post }])),
      components: { schemas: Object.fromEntries(schemas) },
    });
  },
  "names.har": () =>
    JSON.stringify({
      log: {
        entries: list(5_000, (i) => ({
          request: {
            method: "GET",
            url: `https://127.0.0.1:1/a?${word(i)}=1`,
            headers: i < 2 ? list(10_000, (each) => ({ name: `x-${each}`, value: "1" })) : [],
          },
          response: { status: 200, content: { mimeType: "application/json", text: `{"a":1}` } },
        })),
      },
    }),
};

describe("X5: descriptions with very many parts are refused or read within 5 s and 200 MB", () => {
  test.for(cases(Object.entries(REFUSED)))("%s is refused", { timeout: 90_000 }, async ([name, [make, reason]]) => {
    const { code, cpuMs, mb, stderr } = await measuredImport(folder, name, make());
    expect(code, stderr.slice(0, 500)).toBe(3);
    expect(stderr).toMatch(reason);
    expect(cpuMs).toBeLessThan(5_000);
    expect(mb).toBeLessThan(200);
  });

  test.for(cases(Object.entries(BOUNDED)))("%s is bounded", { timeout: 90_000 }, async ([name, make]) => {
    const { code, cpuMs, mb, stderr } = await measuredImport(folder, name, make());
    expect(code, stderr.slice(0, 500)).toBe(0);
    expect(cpuMs).toBeLessThan(5_000);
    expect(mb).toBeLessThan(200);
  });
});

test(
  "Ctrl-C while a large description is drafted ends the import at once and leaves no files",
  { timeout: 90_000 },
  async () => {
    const responses = { 204: { description: "Done" } };
    const paths = Object.fromEntries(list(2_900, (i) => [`/${word(i)}`, { get: { responses } }]));
    const info = { title: "Large", version: "1" };
    await writeFile(join(folder, "large.json"), JSON.stringify({ openapi: "3.0.0", info, paths }));
    // Says when signals are no longer handled, because what follows blocks the program.
    const tell = `const off = process.off; process.off = (name, ...rest) => { off.call(process, name, ...rest);
    if (name === "SIGINT") process.stderr.write("blocked"); return process; };`;
    const hook = `data:text/javascript,${encodeURIComponent(tell)}`;
    const words = ["api", "import", join(folder, "large.json"), "--base", "https://127.0.0.1:1/", "--out", "made"];
    const child = spawn(process.execPath, ["--import", hook, PROGRAM, ...words], { cwd: folder });
    await once(child.stderr, "data");
    child.kill("SIGINT");
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    // 130 if it comes between two steps.
    expect(signal ?? code).toBeOneOf(["SIGINT", 130]);
    expect(await readdir(folder)).not.toContain("made");
  },
);

test("types that need each other twice are checked and tried within seconds, sixty levels deep", async () => {
  const next = (i: number) => ({ $ref: `#/components/schemas/T${i + 1}` });
  const schemas = Object.fromEntries(
    list(60, (i) => {
      const properties = i < 59 ? { a: next(i), b: next(i) } : { a: { type: "string" }, b: { type: "string" } };
      return [`T${i}`, { type: "object", required: ["a", "b"], properties }];
    }),
  );
  const content = { "application/json": { schema: { $ref: "#/components/schemas/T0" } } };
  const post = { requestBody: { required: true, content }, responses: { 200: { description: "Done", content } } };
  const description = { openapi: "3.0.0", info: { title: "Twice", version: "1" }, paths: { "/t": { post } } };
  await writeFile(join(folder, "twice.json"), JSON.stringify({ ...description, components: { schemas } }));
  const nexus = async (...words: string[]) => {
    const child = spawn(process.execPath, ["--max-old-space-size=200", PROGRAM, "api", ...words], {
      cwd: folder,
      stdio: "ignore",
    });
    const [code] = (await once(child, "close")) as [number | null];
    return code;
  };
  expect(await nexus("import", "twice.json", "--base", "https://127.0.0.1:1/", "--out", "twice")).toBe(0);
  expect(await nexus("check", "twice")).toBe(0);
  expect(await nexus("test", "twice")).toBeOneOf([0, 5, 6]);
});
