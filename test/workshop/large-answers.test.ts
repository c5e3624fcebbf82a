import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/workshop/large-answers.mjs", import.meta.url));
const WITHOUT = fileURLToPath(new URL("../fixtures/workshop/no-threads.mjs", import.meta.url));
const CLOSING = fileURLToPath(new URL("../fixtures/workshop/closing-write.mjs", import.meta.url));
const LEAVING = fileURLToPath(new URL("../fixtures/workshop/left-answers.mjs", import.meta.url));
const SECRET = "s3cret-of-the-test";

const FILE = `
nexus: 1
api: large
title: Large
version: "1"
upstream: { base: "https://large.example/" }
secrets: { key: { headers: { X-Key: key } } }
types:
  Query:
    fields:
      case: { type: string }
      least: { type: number, exact: true, optional: true, wire: false }
      times: { list: integer, optional: true, wire: false }
  Row:
    fields:
      id: { type: integer }
      name: { type: string, optional: true }
      price: { type: number, exact: true, optional: true }
      note: { type: string, optional: true, hidden: true }
  Rows:
    fields:
      total: { value: count(rows), type: integer }
      rows: { list: Row }
      names: { map: string, optional: true }
  Given:
    fields:
      rows: { list: Row, optional: true }
      names: { map: string, optional: true }
      numbers: { list: integer }
  Listing:
    xml: { element: rows }
    fields: { ids: { wire: "id[]", list: integer } }
tools:
  read:
    title: Read
    description: Reads rows.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    response: { as: json, type: Rows, text: "{total} rows, more than {input.least}.", sourcePayload: true }
    errors: [{ status: 409, say: "There are {total} of {input.case}." }]
    limits: { retries: 0, result: 2kB }
  report:
    title: Report
    description: Reads rows and says what is odd.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    response: { as: json, type: Rows, unknown: report, text: "It came." }
    limits: { retries: 0, result: 4kB }
  keep:
    title: Keep
    description: Reads rows with all there is.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    response: { as: json, type: Rows, unknown: keep, text: "It came." }
    limits: { retries: 0, result: 4kB }
  pages:
    title: Pages
    description: Reads pages of rows.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    paging: { items: rows, link: true }
    response: { as: json, type: Rows, unknown: report, text: "{total} rows.", sourcePayload: true }
    limits: { retries: 0, result: 4kB }
  together:
    title: Together
    description: Reads rows in steps.
    effect: read
    input: Query
    steps:
      first: { call: read, arguments: { case: "= input.case" } }
    response: { text: "{first.total} rows." }
  given:
    title: Given
    description: Gives what steps read.
    effect: read
    input: Query
    steps:
      first: { call: pages, arguments: { case: "= input.case" } }
      again: { call: read, each: input.times, as: time, max: 10, arguments: { case: "= input.case" } }
      last: { call: keep, when: "again[0].total > 5", arguments: { case: "= input.case" } }
    response:
      type: Given
      text: "{first.total} and {last.total} rows."
      give: { rows: "= first.rows", names: "= last.names", numbers: { each: "= again", as: one, give: "= one.total" } }
    limits: { result: 4kB }
  changing:
    title: Changing
    description: Writes in steps.
    effect: write
    input: Query
    steps:
      made: { call: change, arguments: { case: "= input.case" } }
    response: { text: "{made.total} rows." }
  fetch:
    title: Fetch
    description: Fetches anything.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    response: { as: auto, text: "It came." }
    limits: { retries: 0, result: 4kB }
  listing:
    title: Listing
    description: Reads XML.
    effect: read
    input: Query
    request: { method: GET, path: "{case}", secrets: key }
    response: { as: xml, type: Listing, text: "It came." }
    limits: { retries: 0, result: 4kB }
  change:
    title: Change
    description: Writes.
    effect: write
    input: Query
    request: { method: POST, path: "{case}", secrets: key }
    outcomeUnknown: Look again.
    response: { as: json, type: Rows, text: "{total} rows." }
    limits: { retries: 0, result: 2kB }
`;

const rows = (row: (index: number) => unknown, length = 6_000) =>
  JSON.stringify({ rows: Array.from({ length }, (_, index) => row(index)) });
const right = (id: number) => ({ id, name: `row ${id}`, note: "only for rules" });

/** Pages of one list: small ones, which are very large together, and very large ones. */
const PAGES = [700, 700, 700, 700, 6_000, 10].map((length, page) =>
  rows((index) => right(page * 10_000 + index), length),
);

/** Bodies of at least 128 kB, alone or with those of the same call, by the path at which they are. */
const ANSWERS: Record<string, { body: string | Buffer; type?: string; status?: number }> = {
  right: { body: rows(right) },
  exact: {
    body: `{"rows":[${Array.from({ length: 6_000 }, () => `{"id":1,"price":1.${"3".repeat(25)}}`).join(",")}]}`,
  },
  wrong: { body: rows((index) => ({ id: index % 3 === 0 ? "x" : index, name: index })) },
  unknown: { body: rows((index) => ({ id: index, extra: { of: [index] } })) },
  secret: { body: rows((index) => ({ id: index, name: `the key is ${SECRET}`, [SECRET]: 1 })) },
  map: {
    body: JSON.stringify({
      rows: [],
      names: Object.fromEntries(Array.from({ length: 900 }, (_, index) => ["n".repeat(200) + index, "x"])),
    }),
  },
  refused: { body: rows(right), status: 409 },
  failed: {
    body: `<html><title>Out of order</title>${"<p>x</p>".repeat(20_000)}</html>`,
    status: 500,
    type: "text/html",
  },
  busy: { body: " ".repeat(150_000), status: 429 },
  "not-json": { body: "{".repeat(150_000) },
  text: { body: `${SECRET} ${"word ".repeat(40_000)}`, type: "text/plain" },
  bytes: { body: Buffer.alloc(200_000, 7), type: "application/zip" },
  deep: { body: `{"names":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, status: 400 },
  small: { body: rows(right, 700) },
  xml: { body: `<rows>${"<id>1</id><id>x</id>".repeat(8_000)}</rows>`, type: "application/xml" },
};

/** It takes long to look for secrets in it. */
const SLOW = JSON.stringify({ rows: [], names: { one: "%25".repeat(1_000_000) } });

const TOOLS = ["read", "report", "keep", "pages", "together", "given", "fetch", "change"];
/** For what makes several calls. */
const GIVEN = ["exact", "map", "unknown", "secret", "small", "many", "refused"];
const CALLS = [...Object.keys(ANSWERS), "many"].flatMap((name): [string, Record<string, unknown>][] =>
  name === "xml"
    ? [["listing", { case: name }]]
    : TOOLS.filter((tool) => tool !== "given" || GIVEN.includes(name)).map((tool) => [
        tool,
        {
          case: name,
          ...(tool === "given" && { times: [1, 2, 3] }),
          ...((tool === "read" || tool === "pages") && { least: "12345678901234567890.5", includeSourcePayload: true }),
        },
      ]),
);

let folder = "";
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://large.example");
  if (pathname === "/many") {
    const page = Number(searchParams.get("page") ?? 0);
    const link = page + 1 < PAGES.length ? { link: `</many?page=${page + 1}>; rel="next"` } : {};
    return void response.writeHead(200, { "content-type": "application/json", ...link }).end(PAGES[page]);
  }
  const { body, type = "application/json", status = 200 } = ANSWERS[pathname.slice(1)] ?? { body: SLOW };
  response.writeHead(status, { "content-type": type, ...(status === 429 && { "retry-after": "7" }) }).end(body);
});

function largeApi() {
  const { file, problems } = readToolFile(FILE, "large.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  return compileApi(file, {}).api;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-large-"));
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Answered {
  results: unknown[];
  differences: unknown[];
}

/** Ids are random. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/result:\/\/large\/[\w-]+/g, "result://large/ID"));

/** In this process, where the program runs from its sources and has no threads. */
async function answeredHere(upstream: string): Promise<Answered> {
  const differences: unknown[] = [];
  await using runner = new ApiRunner(largeApi(), {
    secrets: async () => SECRET,
    upstream,
    onDeviations: (tool, found) => differences.push([tool, found]),
  });
  const results = await Promise.all(
    CALLS.map(async ([tool, args]) => {
      const result = await runner.call(tool, args, { correlationId: "nx-1" });
      const uri = result.content.find(({ type }) => type === "resource_link")?.uri;
      const kept = typeof uri === "string" ? runner.findResult("local", uri.split("/").at(-1) ?? "") : undefined;
      return { result, kept: kept && [kept.mimeType, kept.content.length] };
    }),
  );
  return { results, differences };
}

test("R8: a very large answer that another thread reads gives the same result, whatever is in it", async () => {
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = join(folder, "api.json");
  await writeFile(api, JSON.stringify(largeApi()));
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, api, upstream, JSON.stringify(CALLS)], {
    maxBuffer: 1 << 26,
  });
  const { threads, ...apart } = JSON.parse(stdout) as Answered & { threads: number };
  expect(threads).toBeGreaterThan(0);
  const here = await answeredHere(upstream);
  for (const [index, [tool, { case: name }]] of CALLS.entries()) {
    expect(withoutIds([tool, name, apart.results[index]])).toEqual(withoutIds([tool, name, here.results[index]]));
  }
  const inOrder = (all: unknown[]) => all.map((each) => JSON.stringify(each)).sort();
  expect(inOrder(apart.differences)).toEqual(inOrder(here.differences));
  expect(stdout).not.toContain(SECRET);
}, 120_000);

test("R8: a very large answer whose caller has left is not read, and nobody waits for it", async () => {
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = join(folder, "left-api.json");
  await writeFile(api, JSON.stringify(largeApi()));
  const { stdout } = await promisify(execFile)(process.execPath, [LEAVING, api, upstream]);
  const { threads, given, ...said } = JSON.parse(stdout) as { threads: number; given: number };
  expect(said).toEqual({ ended: Array.from({ length: 20 }, () => "left"), isAnswered: true });
  // One that each thread was reading, and that of the last call.
  expect(given).toBeLessThanOrEqual(threads + 1);
}, 60_000);

test("R8: a write of a step whose large answer is being told is done, although the program closes meanwhile", async () => {
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = join(folder, "closing-api.json");
  await writeFile(api, JSON.stringify(largeApi()));
  const { stdout } = await promisify(execFile)(process.execPath, [CLOSING, api, upstream]);
  expect(JSON.parse(stdout)).toEqual({ hasClosed: true, isError: false, text: "6000 rows." });
}, 60_000);

test("R8: where no thread can be started, nobody is told that the write with the answer was not made", async () => {
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = join(folder, "no-threads-api.json");
  await writeFile(api, JSON.stringify(largeApi()));
  const { stdout } = await promisify(execFile)(process.execPath, [WITHOUT, api, upstream]);
  const text = "Large responded, but the response could not be understood.";
  expect(JSON.parse(stdout)).toEqual([text, `${text}\nLook again.`]);
}, 60_000);
