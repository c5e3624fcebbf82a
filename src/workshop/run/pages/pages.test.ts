import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import { compileApi } from "../../compile/compile.ts";
import { readToolFile } from "../../file/read-tool-file.ts";
import { ApiRunner, type ApiRunnerOptions } from "../api-runner.ts";

/** What the API has: things with the numbers from 0. */
const COUNT = 25;

const fileWith = (paging: string, more = "") => `
nexus: 1
api: things
title: Things
version: "1"
upstream: { base: "https://things.example/api/" }
secrets: { key: { query: { key: key } } }
types:
  Query:
    fields:
      after: { type: string, optional: true }
      page: { type: integer, optional: true }
      skip: { type: integer, optional: true }
      limit: { type: integer, default: 10 }
  Things:
    fields:
      count: { value: count(things), type: integer }
      things: { wire: data, list: integer }
      next: { type: string, optional: true, hidden: true }
      nextUrl: { type: string, optional: true, hidden: true }
      hasMore: { type: boolean, optional: true }
tools:
  list_things:
    title: List things
    description: Lists things.
    effect: read
    input: Query
    request: { method: GET, path: things, query: { after: after, page: page, skip: skip, limit: limit }, secrets: key }
    paging: ${paging}
    response: { as: json, type: Things, text: "{count} things." }
    limits: { retries: 0, result: 256B${more} }
`;

interface Things extends AsyncDisposable {
  call(args?: Record<string, unknown>, options?: Partial<ApiRunnerOptions>): Promise<CallToolResult>;
  asked: URL[];
  /** Instead of the usual answer. */
  answer: (url: URL) => { status?: number; link?: string; body?: unknown } | undefined;
}

async function openThings(paging: string, more = ""): Promise<Things> {
  const { file, problems } = readToolFile(fileWith(paging, more), "things.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  const { api } = compileApi(file, {});
  const things: Things = {
    asked: [],
    answer: () => undefined,
    async call(args = {}, options = {}) {
      await using runner = new ApiRunner(api, {
        secrets: async () => "s3cret-key",
        upstream: `${base}/api/`,
        pause: async () => {},
        ...options,
      });
      return await runner.call("list_things", args);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", base);
    things.asked.push(url);
    const given = things.answer(url);
    const limit = Number(url.searchParams.get("limit") ?? 10);
    const page = Number(url.searchParams.get("page") ?? 1);
    const after = url.searchParams.get("after");
    const from = after === null ? Number(url.searchParams.get("skip") ?? (page - 1) * limit) : Number(after);
    const data = Array.from({ length: COUNT }, (_, index) => index).slice(from, from + limit);
    const end = from + data.length;
    const isMore = end < COUNT;
    const link = `<${base}/api/things?page=${page + 1}&limit=${limit}>; rel="next", <${base}/api/things>; rel="first"`;
    response.writeHead(given?.status ?? 200, {
      "content-type": "application/json",
      ...(isMore || given?.link ? { link: given?.link ?? link } : {}),
    });
    const nextUrl = `/api/things?page=${page + 1}&limit=${limit}`;
    const usual = { data, hasMore: isMore, ...(isMore ? { next: String(end), nextUrl } : {}) };
    response.end(JSON.stringify(given?.body ?? usual));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return things;
}

const ALL = Array.from({ length: COUNT }, (_, index) => index);
const textOf = ({ content }: CallToolResult) => content.map(({ text }) => text).join("\n");

const WAYS: [string, string, string[]][] = [
  [
    "a cursor",
    "{ items: things, cursor: { from: next, to: after } }",
    ["limit=10", "after=10&limit=10", "after=20&limit=10"],
  ],
  [
    "pages that end with a short one",
    "{ items: things, page: { to: page, size: limit } }",
    ["limit=10", "page=2&limit=10", "page=3&limit=10"],
  ],
  [
    "pages that end with an empty one",
    "{ items: things, page: { to: page } }",
    ["limit=10", "page=2&limit=10", "page=3&limit=10", "page=4&limit=10"],
  ],
  [
    "offsets that end when the answer says so",
    "{ items: things, offset: { to: skip }, last: hasMore == false }",
    ["limit=10", "skip=10&limit=10", "skip=20&limit=10"],
  ],
  ["the Link header", "{ items: things, link: true }", ["limit=10", "page=2&limit=10", "page=3&limit=10"]],
  ["links in the answer", "{ items: things, link: nextUrl }", ["limit=10", "page=2&limit=10", "page=3&limit=10"]],
];

describe("the pages of a list", () => {
  test.each(WAYS)("are gathered by %s", async (_, paging, queries) => {
    await using things = await openThings(paging);
    const result = await things.call();
    expect(result).toMatchObject({ structuredContent: { count: COUNT, things: ALL } });
    expect(result.structuredContent).not.toHaveProperty("more");
    expect(textOf(result)).toMatch(/^25 things\.\n/);
    expect(things.asked.map(({ search }) => search)).toEqual(queries.map((query) => `?${query}&key=s3cret-key`));
  });

  test.each(WAYS)("by %s end at the bound, and go on with the arguments in the result", async (_, paging) => {
    await using things = await openThings(paging.replace("{ items", "{ maxPages: 2, items"));
    const first = await things.call();
    const more = (first.structuredContent as { more?: { next: Record<string, unknown>; why: string } }).more;
    expect(more?.why).toBe("the limit of 2 pages is reached");
    expect(textOf(first)).toContain(`To go on, call again with the same arguments and ${JSON.stringify(more?.next)}.`);
    const second = await things.call(more?.next);
    expect(
      [first, second].flatMap(({ structuredContent }) => (structuredContent as { things: number[] }).things),
    ).toEqual(ALL);
    expect(second.structuredContent).not.toHaveProperty("more");
  });

  test("end once there are enough items", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after }, maxItems: 15 }");
    const result = await things.call();
    expect(result).toMatchObject({ structuredContent: { count: 20, more: { next: { after: "20" } } } });
    expect(things.asked).toHaveLength(2);
  });

  test("that cannot all be read are given with the reason", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after } }");
    things.answer = ({ searchParams }) => (searchParams.get("after") === "20" ? { status: 500, body: {} } : undefined);
    const result = await things.call();
    expect(result).toMatchObject({
      structuredContent: {
        count: 20,
        more: { next: { after: "20" }, why: expect.stringContaining("page 3 could not be read") },
      },
    });
    things.answer = () => ({ status: 500, body: {} });
    expect((await things.call()).isError).toBe(true);
  });

  test("that were read stay if the API names a next one that no request can hold", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after } }");
    things.answer = () => ({ body: { data: [1], next: "\ud800" } });
    const result = await things.call();
    expect(result).toMatchObject({
      structuredContent: { count: 1, more: { why: expect.stringContaining("the next page cannot be requested") } },
    });
    expect(things.asked).toHaveLength(1);
  });

  test("of which the API names one twice end there", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after } }");
    things.answer = () => ({ body: { data: [1], next: "again" } });
    const result = await things.call();
    expect(textOf(result)).toContain("There is more: the API named the same page twice. This call cannot be continued");
    expect(things.asked).toHaveLength(2);
  });

  test.each([
    ["another host", "http://evil.example/api/things?page=2"],
    ["another port", "http://127.0.0.1:1/api/things?page=2"],
    ["an address with credentials", "http://me@127.0.0.1:1/api/things"],
  ])("are not read from %s", async (_, address) => {
    await using things = await openThings("{ items: things, link: true }");
    things.answer = () => ({ link: `<${address}>; rel="next"`, body: { data: [1] } });
    const result = await things.call();
    expect(result).toMatchObject({
      structuredContent: { things: [1], more: { why: expect.stringContaining("is not followed") } },
    });
    expect(things.asked).toHaveLength(1);
  });

  test("are not read from an address at the same host that the file does not allow", async () => {
    await using things = await openThings("{ items: things, link: true }");
    things.answer = () => ({ link: `</admin/things?page=2>; rel="next"`, body: { data: [1] } });
    const result = await things.call();
    expect(result).toMatchObject({
      structuredContent: { things: [1], more: { why: expect.stringContaining("page 2 could not be read") } },
    });
    expect(things.asked).toHaveLength(1);
  });

  test("have our credentials, whatever a link says", async () => {
    await using things = await openThings("{ items: things, link: true }");
    let asked = 0;
    things.answer = () => {
      asked += 1;
      return asked === 1
        ? { link: `<?page=2&key=theirs>; rel=next`, body: { data: [1] } }
        : { body: { data: [2] }, link: "" };
    };
    await things.call();
    expect(things.asked[1]?.searchParams.getAll("key")).toEqual(["s3cret-key"]);
  });

  test("fit the budget of a result: an excerpt keeps how to go on", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after }, maxPages: 2 }");
    things.answer = () => ({ body: { data: Array.from({ length: 500 }, () => 7), next: crypto.randomUUID() } });
    const result = await things.call();
    const { more, things: shown } = result.structuredContent as { more: { next: object }; things: number[] };
    expect(more.next).toEqual({ after: expect.any(String) });
    expect(shown.length).toBeLessThan(500);
    expect(result._meta).toMatchObject({ "dev.nexus/omitted": [{ path: "things", of: 1000 }] });
  });

  test("share the time limit of the call", async () => {
    await using things = await openThings("{ items: things, cursor: { from: next, to: after } }", ", timeout: 10s");
    let now = Date.UTC(2026, 0, 1);
    things.answer = () => void (now += 6_000);
    const result = await things.call({}, { now: () => now });
    expect(result).toMatchObject({
      structuredContent: { count: 20, more: { why: "the time limit of one call is reached" } },
    });
  });
});
