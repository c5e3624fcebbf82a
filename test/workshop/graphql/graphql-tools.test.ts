import { buildSchema, introspectionFromSchema } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { draftToolFile, type Draft, type DraftOptions } from "../../../src/workshop/draft/draft-tool-file.ts";
import { factsOf } from "../../../src/workshop/draft/read-document.ts";
import { startFake } from "../../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import type { ApiRunner } from "../../../src/workshop/run/api-runner.ts";
import { runChecks } from "../../../src/workshop/run-checks.ts";
import { runnerFor } from "../../fixtures/workshop/imported-runner.ts";
import { GraphqlServer } from "./graphql-server.ts";
import { LIBRARY_SDL } from "./library-schema.ts";

async function draftOf(text: string, options: Partial<DraftOptions> = {}): Promise<Draft> {
  const document = parseDocument(text, "graphql");
  const documents = { graphql: { file: "library.graphql", sha256: document.sha256 } };
  const base = "https://library.example/graphql";
  return draftToolFile(await factsOf(document), { api: "library", documents, base, ...options });
}

function compiled({ text }: Draft, document = LIBRARY_SDL) {
  const { file, problems } = readToolFile(text, "library.nexus.yaml");
  if (!file) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return { file, api: compileApi(file, { graphql: document }).api };
}

const ADA = { id: "a1", name: "Ada", born: "1815-12-10", books: [] };
const BOOK = {
  __typename: "Book",
  id: "b1",
  title: "Engines",
  addedAt: "2026-01-02T03:04:05Z",
  pages: null,
  weight: 1.5,
  shelfMark: "QA 76",
  authors: [ADA],
  tags: ["old", null, "rare"],
  grid: [[1, 2], [3]],
  related: {
    edges: [null, { cursor: "c", node: null }],
    pageInfo: { hasNextPage: false, endCursor: null },
    totalCount: 1,
  },
  sequel: null,
  price: { amount: 12.5, currency: "EUR" },
};
const FILM = {
  __typename: "Film",
  id: "f1",
  title: "Loops",
  addedAt: null,
  minutes: 90,
  pages: "none",
  director: ADA,
  price: 3,
};
const SERIAL = "90071992547409931234";

const received: Record<string, unknown>[] = [];
const root = {
  book: ({ id }: { id: string }) => {
    if (id === "broken") throw new Error("The shelf fell over");
    if (id === "partly") return { ...BOOK, authors: [ADA], sequel: () => Promise.reject(new Error("No sequel today")) };
    return id === "b1" ? BOOK : null;
  },
  books: ({ first, after }: { first: number; after?: string }) => {
    const all = ["b1", "b2", "b3", "b4", "b5"];
    const from = after === undefined || after === null ? 0 : all.indexOf(after) + 1;
    const part = all.slice(from, from + first);
    const edges = part.map((id) => ({ cursor: id, node: { ...BOOK, id } }));
    const pageInfo = { hasNextPage: from + first < all.length, endCursor: part.at(-1) ?? null };
    return { edges, pageInfo, totalCount: all.length };
  },
  search: () => [BOOK, FILM, { ...ADA, __typename: "Author" }],
  media: () => [FILM, null, BOOK],
  byKey: (given: Record<string, unknown>) => {
    received.push(given);
    return BOOK;
  },
  count: (given: Record<string, unknown>) => {
    received.push(given);
    return 3;
  },
  settings: { open: [9, 17], name: "Main" },
  serial: SERIAL,
  availabilities: ["IN", "LOST"],
  errors: ["none", null],
  addBook: (given: Record<string, unknown>) => {
    received.push(given);
    return BOOK;
  },
  lend: ({ member }: { member: string }) => {
    if (member === "stranger") {
      throw Object.assign(new Error("Not a member"), { extensions: { code: "FORBIDDEN" } });
    }
    if (member === "crash") throw new Error("Lost the connection to the shelf");
    return { book: BOOK, until: "2026-02-01T00:00:00Z", problems: null };
  },
  removeBook: true,
  authorDelete: null,
};

let server: GraphqlServer;
let runner: ApiRunner;

beforeAll(async () => {
  server = await GraphqlServer.start(buildSchema(LIBRARY_SDL), root);
  runner = runnerFor(compiled(await draftOf(LIBRARY_SDL)).api, server.origin);
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function call(tool: string, args: Record<string, unknown> = {}) {
  const result = await runner.call(tool, args);
  const text = result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { isError: result.isError === true, text, value: result.structuredContent };
}

test("X5 every field of queries and mutations is a tool or is listed with the reason", async () => {
  const { tools, omitted, problems } = await draftOf(LIBRARY_SDL);
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(tools.map(({ name, effect }) => `${name}: ${effect}`)).toEqual([
    ...["book", "books", "search", "media", "by_key", "count", "settings", "serial", "availabilities"].map(
      (name) => `${name}: read`,
    ),
    "errors: read",
    "service: read",
    "add_book: write",
    "lend: write",
    "remove_book: destructive",
    "author_delete: destructive",
  ]);
  expect(omitted.map(({ key, reason }) => [key, reason])).toEqual([
    ["query nothing", "no-selection"],
    ["mutation cover", "unsupported-body"],
    ["subscription lent", "stream"],
  ]);
});

test("X5 the schema language and the introspection of the same schema give the same tools", async () => {
  const schema = buildSchema(LIBRARY_SDL);
  const all = introspectionFromSchema(schema, { oneOf: true, inputValueDeprecation: true, schemaDescription: true });
  const fromText = compiled(await draftOf(LIBRARY_SDL)).file;
  for (const value of [all, { data: all }]) {
    const text = JSON.stringify(value, undefined, 1);
    const { file } = compiled(await draftOf(text), text);
    expect(withoutEvidence(file.tools)).toEqual(withoutEvidence(fromText.tools));
    expect(withoutEvidence(file.types)).toEqual(withoutEvidence(fromText.types));
    expect(file.tools["book"]?.evidence[0]).toMatch(/^graphql#(?:\/data)?\/__schema\/types\/\d+\/fields\/0$/);
  }
});

function withoutEvidence(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === "evidence" ? undefined : member)));
}

test("X5 evidence names the lines of the schema", async () => {
  const { file } = compiled(await draftOf(LIBRARY_SDL));
  const lines = LIBRARY_SDL.split("\n");
  const [, from = "0", to = from] =
    /L(\d+)(?:-L(\d+))?$/.exec(file.types["Book"]?.fields["title"]?.evidence[0] ?? "") ?? [];
  expect(lines.slice(Number(from) - 1, Number(to))).toEqual([`  "As on the cover."`, "  title: String!"]);
});

test("X5 the reference implementation executes every query and its value comes back", async () => {
  const { __typename: _book, ...book } = BOOK;
  expect((await call("book", { id: "b1" })).value).toEqual({
    book: { ...book, authors: [ADA], related: { ...BOOK.related, edges: [null, { cursor: "c", node: null }] } },
  });
  expect((await call("book", { id: "unknown" })).value).toEqual({ book: null });
  expect((await call("settings")).value).toEqual({ settings: root.settings });
  expect((await call("serial")).value).toEqual({ serial: SERIAL });
  expect((await call("availabilities")).value).toEqual({ availabilities: ["IN", "LOST"] });
  expect((await call("errors")).value).toEqual({ result: ["none", null] });
  expect((await call("remove_book", { id: "b1" })).value).toEqual({ removeBook: true });
  expect((await call("author_delete", { id: "a1" })).value).toEqual({ authorDelete: null });
  expect(server.invalid).toEqual([]);
  expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(["/graphql"]));
});

test("X5 values of unions and interfaces have their type, also where fields of one name differ", async () => {
  const { value } = await call("search", { text: "e" });
  expect(value).toMatchObject({
    search: [
      { typename: "Book", title: "Engines", pages_Book: null, price_Book: { amount: 12.5 } },
      { typename: "Film", minutes: 90, pages_Film: "none", price_Film: 3 },
      { typename: "Author", name: "Ada" },
    ],
  });
  expect((await call("media")).value).toMatchObject({ media: [{ typename: "Film" }, null, { typename: "Book" }] });
  expect(server.invalid).toEqual([]);
});

test("X5 arguments arrive as they were given: recursive, enumerations, one of several, free values, big numbers", async () => {
  received.length = 0;
  const filter = { text: "x", availability: ["OUT"], andValue: [{ notValue: { period: { from: "2026-01-01" } } }, {}] };
  expect((await call("count", { filter })).value).toEqual({ count: 3 });
  expect((await call("by_key", { key: { mark: { from: "2026-01-01" } } })).isError).toBe(false);
  const book = { title: "New", authors: ["a1"], extra: { any: [1, { thing: null }] }, serial: SERIAL, pages: null };
  expect((await call("add_book", { book })).isError).toBe(false);
  expect(JSON.parse(JSON.stringify(received))).toEqual([
    {
      filter: {
        text: "x",
        availability: ["OUT"],
        and: [
          { availability: ["IN"], not: { availability: ["IN"], period: { from: "2026-01-01" } } },
          { availability: ["IN"] },
        ],
      },
    },
    { key: { mark: { from: "2026-01-01" } } },
    { book },
  ]);
  expect(server.requests.at(-1)?.variables).toEqual({ book });
  const both = await call("by_key", { key: { id: "1", isbn: "2" } });
  expect(both).toMatchObject({ isError: true, text: expect.stringContaining("nothing was sent") });
  expect(await call("add_book", { book: { title: "x" } })).toMatchObject({ isError: true });
  expect(server.invalid).toEqual([]);
});

test("X5 errors in an answer with the status 200 are failures with their messages", async () => {
  expect(await call("book", { id: "broken" })).toMatchObject({ isError: true, text: "The shelf fell over" });
  const refused = await call("lend", { book: "b1", member: "stranger" });
  expect(refused).toMatchObject({ isError: true, text: "Not a member" });
  const open = await call("lend", { book: "b1", member: "crash" });
  expect(open.text).toMatch(/^Lost the connection to the shelf[^]*not known whether this was carried out/);
});

test("X5 an answer of which parts failed is given with what is there and why the rest is missing", async () => {
  const { isError, value } = await call("book", { id: "partly" });
  expect(isError).toBe(false);
  expect(value).toMatchObject({ book: { id: "b1", sequel: null }, errors: "No sequel today" });
});

test("X5 a connection is gathered with the paging that the question proposes", async () => {
  const draft = await draftOf(LIBRARY_SDL);
  const [, line = ""] =
    /Then add to it: (paging: .*)$/.exec(draft.questions.find(({ about }) => about === "tools.books")?.ask ?? "") ?? [];
  const text = draft.text.replace(/(\n {2}books:\n {4}title: Books\n)/, `$1    ${line}\n`);
  const { api } = compiled({ ...draft, text });
  await using paging = runnerFor(api, server.origin);
  const before = server.requests.length;
  const result = await paging.call("books", { first: 2 });
  const { books } = result.structuredContent as { books: { edges: { cursor: string }[] } };
  expect(books.edges.map(({ cursor }) => cursor)).toEqual(["b1", "b2", "b3", "b4", "b5"]);
  expect(server.requests.slice(before).map(({ variables }) => variables["after"])).toEqual([undefined, "b2", "b4"]);
});

test("X5 the fake answers every tool, and all checks pass", async () => {
  const { file, api } = compiled(await draftOf(LIBRARY_SDL));
  await using fake = await startFake(file);
  await using practising = runnerFor(api, fake.url);
  for (const [tool, args] of Object.entries({
    book: { id: "b1" },
    books: {},
    search: { text: "x" },
    media: {},
    by_key: { key: { id: "1" } },
    add_book: { book: { title: "x", authors: [] } },
    remove_book: { id: "1" },
  })) {
    const result = await practising.call(tool, args);
    expect(result.isError, `${tool}: ${JSON.stringify(result.content)}`).not.toBe(true);
    expect(JSON.stringify(result.content)).not.toContain("not as documented");
  }
  for await (const { problems } of runChecks({ api, file })) expect(problems).toEqual([]);
});

test("X5 operations are selected by their kind, effect and name", async () => {
  const names = async (...select: string[]) => (await draftOf(LIBRARY_SDL, { select })).tools.map(({ name }) => name);
  expect(await names("tag:mutation", "-destructive")).toEqual(["add_book", "lend"]);
  expect(await names("op:book", "op:addBook")).toEqual(["book", "add_book"]);
  expect(await names("write")).toEqual(["add_book", "lend"]);
});

test("X5 the address is a question, and stays what a person gave", async () => {
  const unknown = await draftOf(LIBRARY_SDL, { base: undefined });
  expect(unknown.file?.upstream.base).toBe("https://api.example.invalid/");
  expect(unknown.questions).toContainEqual(expect.objectContaining({ about: "upstream.base" }));
  const addresses = [
    ["https://a.example/", "https://a.example/", ""],
    ["https://a.example/api/graphql", "https://a.example/api/", "graphql"],
    ["https://a.example/graphql/", "https://a.example/", "graphql/"],
  ] as const;
  for (const [base, expected, path] of addresses) {
    const { file } = await draftOf(LIBRARY_SDL, { base });
    expect([file?.upstream.base, file?.tools["book"]?.request?.path]).toEqual([expected, path]);
  }
});

test("X5 types of a large union that are left out are named in a question", async () => {
  const names = Array.from({ length: 14 }, (_, index) => `Kind${index}`);
  const types = names.map((name) => `type ${name} { id: ID }`);
  const { questions } = await draftOf(`type Query { any: Any }\nunion Any = ${names.join(" | ")}\n${types.join("\n")}`);
  const asked = questions.find(({ ask }) => ask.startsWith("Any has more types"));
  expect(asked).toMatchObject({
    ask: expect.stringContaining("Left out are Kind12, Kind13.") as string,
    evidence: ["graphql#L2"],
  });
});

test("X5 a query or a mutation whose name says that something is lost is destructive", async () => {
  const fields = "deleteAll: Int getAndRemove: Int itemDelete: Int canDelete: Int";
  const { tools } = await draftOf(`type Query { ${fields} }\ntype Mutation { itemCancel: Int findItem: Int }`);
  expect(Object.fromEntries(tools.map(({ name, effect }) => [name, effect]))).toEqual({
    delete_all: "destructive",
    get_and_remove: "destructive",
    item_delete: "destructive",
    can_delete: "read",
    item_cancel: "destructive",
    find_item: "write",
  });
});
