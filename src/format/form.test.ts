import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, expectTypeOf, test } from "vitest";
import { parseYaml } from "../source/yaml-source.ts";
import {
  boolean,
  choice,
  constant,
  flag,
  json,
  kinds,
  lazy,
  list,
  map,
  number,
  record,
  text,
  whole,
  type Form,
  type Given,
  type Infer,
} from "./form.ts";
import { jsonSchema } from "./json-schema.ts";
import { bytes, duration } from "./quantities.ts";
import { readTree, readValue } from "./read-form.ts";
import { writeForm } from "./write-form.ts";

interface Node {
  name: string;
  children?: Node[];
}

const NODE: Form<Node> = record({
  name: text(),
  children: list(lazy<Node>(() => NODE)).optional(),
}).named("node");

const SHOP = record(
  {
    shop: constant(1),
    id: text({ pattern: /^[a-z]+$/, not: "cannot be an id", hint: "Small letters." }).says("Its id."),
    kind: choice(["open", "closed"]).default("open"),
    fast: flag(),
    timeout: duration({ most: 600_000, words: "a time of at most ten minutes, like 20s" }).default(30_000),
    size: bytes({ least: 256, most: 1024 * 1024 }).optional(),
    rooms: whole({ most: 9 }).optional(),
    price: number({ above: 0 }).optional(),
    tags: list(text(), { single: true, least: 1 }).optional(),
    fields: map(kinds({ text: text(), map: record({ type: text() }) }), {
      names: text({ pattern: /^\w+$/, not: "is not a name" }),
    }).optional(),
    program: text().local().alias("command").optional(),
    note: text({ empty: true }).nullable().optional(),
    limits: record({ retries: whole().default(2) }).filled(),
    tree: NODE.optional(),
    any: json().optional(),
    open: boolean().optional(),
    from: text().optional(),
    until: text().optional(),
  },
  {
    needs: [{ count: "atMostOne", of: ["from", "until"], message: "from and until cannot be together" }],
    foreign: { sort: "Write kind." },
  },
);
type Shop = Infer<typeof SHOP>;

function problemsIn(yaml: string): string[] {
  const tree = parseYaml(yaml, "shop.yaml", { isName: () => true, isShown: () => true });
  return readTree(SHOP, tree).problems.map(
    ({ line, column, path, message, hint }) => `${line}:${column} ${path}: ${message}${hint ? ` (${hint})` : ""}`,
  );
}

test("a form gives the type of what it reads", () => {
  expectTypeOf<Shop["kind"]>().toEqualTypeOf<"open" | "closed">();
  expectTypeOf<Pick<Shop, "fast">>().toEqualTypeOf<{ fast?: true }>();
  expectTypeOf<Shop["fields"]>().toEqualTypeOf<Record<string, string | { type: string }> | undefined>();
  expectTypeOf<Pick<Shop, "note">>().toEqualTypeOf<{ note?: string | null }>();
  expectTypeOf<Pick<Given<Shop>, "fast">>().toEqualTypeOf<{ readonly fast?: boolean | undefined }>();
});

test("what is written is read with its defaults, and written again without them", () => {
  const written = {
    shop: 1,
    id: "a",
    timeout: "2m",
    size: "16kB",
    tags: "one",
    fields: { x: "date", y: { type: "date" } },
    program: "node",
    note: null,
    tree: { name: "a", children: [{ name: "b" }] },
  };
  const { value, problems } = readValue(SHOP, { ...written, fast: false, kind: "open", from: undefined });
  expect(problems).toEqual([]);
  expect(value).toEqual({
    ...written,
    kind: "open",
    timeout: 120_000,
    size: 16_384,
    tags: ["one"],
    limits: { retries: 2 },
  });
  expect(writeForm(SHOP, value)).toEqual(written);
  const { program, ...rest } = written;
  expect(readValue(SHOP, { ...rest, command: program }).value).toEqual(value);
});

test("every problem of a file is reported at its place, and the rest is kept", () => {
  expect(
    problemsIn(`shop: 2
id: A1
kindd: open
sort: x
timeout: soon
rooms: 10
price: 0
tags: []
fields: { a b: date, c: [], d: { typ: x } }
limits: { retries: some }
from: a
until: b
`),
  ).toEqual([
    "1:1 : from and until cannot be together",
    "1:7 shop: must be 1",
    `2:5 id: "A1" cannot be an id (Small letters.)`,
    `3:1 kindd: "kindd" is not known here (Did you mean "kind"?)`,
    `4:1 sort: "sort" is not known here (Write kind.)`,
    `5:10 timeout: must be a time of at most ten minutes, like 20s, not "soon"`,
    "6:8 rooms: must be 9 or less, not 10",
    "7:8 price: must be more than 0",
    "8:1 tags: must have at least one item",
    `9:11 fields.a b: "a b" is not a name`,
    "9:22 fields.c: must be text or a map of names and values, not a list",
    "9:29 fields.d: type is missing",
    `9:34 fields.d.typ: "typ" is not known here (Did you mean "type"?)`,
    "10:20 limits.retries: must be a number, not text",
  ]);
  const { value } = readValue(SHOP, { shop: 1, id: 7, rooms: "x", tags: ["a", 1], kind: "opn" });
  expect(value).toMatchObject({ id: "", kind: "open", tags: ["a"], limits: { retries: 2 } });
  expect(value).not.toHaveProperty("rooms");
});

test("problems of JSON have pointers and the words of JSON", () => {
  const { problems } = readValue(SHOP, { shop: 1, id: "a", limits: [], "a/b": 1, tree: null });
  expect(problems.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
    `/a~1b "a/b" is not known here`,
    "/limits must be an object, not a list",
    "/tree must be an object, not null",
  ]);
});

test("members that are local are refused over the network, in the words of the caller", () => {
  const given = { shop: 1, id: "a", command: "rm" };
  expect(readValue(SHOP, given, { network: true }).problems).toMatchObject([
    { message: "may not come over the network" },
  ]);
  const words = (member: string) => ({ message: `${member} starts a program`, hint: "Leave it out." });
  const { value, problems } = readValue(SHOP, given, { network: words });
  expect(problems).toMatchObject([{ message: "program starts a program", hint: "Leave it out." }]);
  expect(value).not.toHaveProperty("program");
  expect(jsonSchema(SHOP, { network: true })).not.toHaveProperty("properties.program");
});

test("numbers and flags of a query are written as text", () => {
  const { value, problems } = readValue(SHOP, { shop: 1, id: "a", rooms: "3", fast: "true" }, { asText: true });
  expect(problems).toEqual([]);
  expect(value).toMatchObject({ rooms: 3, fast: true });
});

test("the JSON Schema accepts and refuses what the reader does", () => {
  const schema = jsonSchema(SHOP);
  const isValid = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);
  const good = { shop: 1, id: "a" };
  for (const given of [
    good,
    { ...good, timeout: "soon" },
    { ...good, timeout: 5 },
    { ...good, id: "A" },
    { ...good, size: "1kB", tags: "a", note: null, tree: { name: "a", children: [{ name: "b" }] } },
    { ...good, tree: { name: "a", children: [{ nme: "b" }] } },
    { ...good, fields: { "a b": "x" } },
    { ...good, from: "a", until: "b" },
    { ...good, rooms: 10 },
    { ...good, command: "x" },
    { id: "a" },
  ]) {
    expect(isValid(given), JSON.stringify(given)).toBe(readValue(SHOP, given).problems.length === 0);
  }
  expect(schema).toMatchObject({
    required: ["shop", "id"],
    properties: {
      id: { description: "Its id.", pattern: "^[a-z]+$" },
      timeout: { default: "30s" },
      tree: { $ref: "#/$defs/node" },
    },
  });
});
