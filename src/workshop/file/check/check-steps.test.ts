import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readToolFile } from "../read-tool-file.ts";

type Tree = Record<string, unknown>;
type Path = readonly string[];

const STEPS = readFileSync("examples/workshop/steps.nexus.yaml", "utf8");
const PAGING = readFileSync("examples/workshop/paging.nexus.yaml", "utf8");

/** The warnings about the files themselves. */
const KNOWN = new Set(
  [STEPS, PAGING].flatMap((text) => readToolFile(text, "x").problems.map(({ message }) => message)),
);

/** The errors and warnings about one changed value; undefined removes it. */
function problemsAfter(text: string, path: Path, value: unknown): string[] {
  const tree = parse(text) as Tree;
  const parent = path.slice(0, -1).reduce<Tree>((at, name) => (at[name] ??= {}) as Tree, tree);
  const [name = ""] = path.slice(-1);
  if (value === undefined) delete parent[name];
  else parent[name] = value;
  const { problems } = readToolFile(stringify(tree), "x.nexus.yaml");
  return problems
    .filter(({ message }) => !KNOWN.has(message))
    .map(({ path: at, message, hint = "" }) => `${at}: ${message}. ${hint}`.trim());
}

const order = (...rest: string[]): Path => ["tools", "create_order", ...rest];
const step = (...rest: string[]): Path => order("steps", ...rest);

describe("steps", () => {
  test.each<[string, Path, unknown, string]>([
    [
      "a tool that does not exist",
      step("order", "call"),
      "post_ordr",
      'there is no tool "post_ordr". Did you mean "post_order"?',
    ],
    [
      "a tool with steps",
      step("order", "call"),
      "create_order",
      "create_order itself has steps. A step calls a tool that has a request.",
    ],
    [
      "an unknown name",
      step("order", "arguments"),
      { customerId: "= custmers.id" },
      'there is no "custmers" here. Did you mean "customers"?',
    ],
    ["a later step", step("customers", "arguments"), { email: "= order.id" }, 'there is no "order" here.'],
    [
      "a field that an earlier step does not give",
      step("lines", "arguments", "orderId"),
      "= order.number",
      'there is no "number" in it.',
    ],
    ["an argument that is missing", step("order", "arguments"), {}, '"customerId" is missing: post_order requires it.'],
    ["an argument that does not exist", step("order", "arguments", "color"), "red", 'there is no field "color".'],
    [
      "an argument that is computed",
      step("order", "arguments", "orderKey"),
      "x",
      'post_order sets "orderKey" itself. Leave it out.',
    ],
    [
      "a condition that is no condition",
      step("created", "when"),
      "count(customers.items)",
      "gives a number, not true or false",
    ],
    ["a list that is none", step("lines", "each"), "input.email", "is not a list"],
    ["the items of another list", step("lines", "arguments", "sku"), "= line.number", 'there is no "number" in it.'],
    [
      "a wait for something that never comes",
      step("ready", "until"),
      "state == 'ready'",
      '"ready" is never equal to it.',
    ],
    ["a wait that writes", step("order", "until"), "id != null", "the tool is write, and only reads are repeated"],
    [
      "a wait that is longer than the tool",
      step("ready", "atMost"),
      "5m",
      "the whole tool has 120 s, so it cannot wait 300 s here. Raise limits.timeout",
    ],
    ["a wait without an end", step("ready", "atMost"), "1h", "must be a time of at most ten minutes"],
    ["a very short pause", step("ready", "every"), "10ms", "must be 500ms or more"],
    ["too many items", step("lines", "max"), 101, "must be 100 or less, not 101"],
    ["a bound without a list", step("order", "max"), 5, "belongs to each, which is missing"],
    ["each and until", step("ready", "each"), "input.lines", "each and until cannot be in one step"],
    [
      "a name that means something else",
      step("input"),
      { call: "find_customers" },
      '"input" already means something else in expressions',
    ],
    ["an item with the name of a step", step("lines", "as"), "order", '"order" is also the name of a step'],
    ["no steps", step(), {}, "has no steps"],
    [
      "more than twenty",
      step(),
      Object.fromEntries(
        Array.from({ length: 21 }, (_, index) => [`s${index}`, { call: "find_customers", arguments: { email: "x" } }]),
      ),
      "has 21 steps, 20 are allowed",
    ],
    [
      "an effect that is too low",
      order("effect"),
      "read",
      "the effect is read, but the step created calls create_customer, which is write. Write effect: write.",
    ],
    [
      "a request beside them",
      order("request"),
      { method: "GET", path: "x" },
      "a tool has a request or steps, not both",
    ],
    [
      "errors beside them",
      order("errors"),
      [{ status: 404, say: "x" }],
      "belongs to a tool with a request. Write it at the tool that the step calls.",
    ],
    [
      "a format of the answer",
      order("response", "as"),
      "json",
      '"as" is not known here. Steps read nothing themselves',
    ],
    ["a result without a value", order("response", "give"), undefined, "give is missing"],
    ["a result with an unknown field", order("response", "give"), { number: 1 }, 'there is no field "number".'],
    ["a text with an unknown name", order("response", "text"), "{nobody}", 'there is no "nobody" here.'],
    [
      "a tool that asks its caller",
      ["tools", "post_order", "confirm"],
      { field: "x", call: "get_order", arguments: {}, find: "1", actual: "1", ask: "x", gone: "x" },
      "post_order has confirm, which asks its caller. A step cannot ask.",
    ],
    [
      "a tool that no step calls",
      ["tools", "create_order", "steps", "created"],
      undefined,
      "no step calls this tool, so it is never used",
    ],
  ])("with %s are refused with what to do", (_, path, value, message) => {
    expect(problemsAfter(STEPS, path, value).join("\n")).toContain(message);
  });

  test("may be written with = in conditions, as in arguments", () => {
    expect(problemsAfter(STEPS, step("created", "when"), "= count(customers.items) == 0")).toEqual([]);
  });
});

const seeds = (...rest: string[]): Path => ["tools", "list_seeds", ...rest];

describe("paging", () => {
  test.each<[string, Path, unknown, string]>([
    ["no list", seeds("paging", "items"), "sedes", 'the answer has no field "sedes"'],
    ["a list that is none", seeds("paging", "items"), "count", '"count" is not a list'],
    ["a path that is none", seeds("paging", "items"), "a[0]", '"a[0]" is not a field of the answer'],
    [
      "a cursor from nowhere",
      seeds("paging", "cursor", "from"),
      "meta.cursor",
      'the answer has no field "meta.cursor"',
    ],
    ["a cursor to nowhere", seeds("paging", "cursor", "to"), "after", 'the input has no field "after"'],
    [
      "two ways",
      seeds("paging", "link"),
      true,
      "must say how the next page is requested: cursor, page, offset or link",
    ],
    ["no way", seeds("paging", "cursor"), undefined, "must say how the next page is requested"],
    ["too many pages", seeds("paging", "maxPages"), 101, "must be 100 or less, not 101"],
    ["a page that is a text", seeds("paging"), { items: "seeds", page: { to: "kind" } }, "is not a number"],
    [
      "a cursor that is required",
      ["types", "SeedQuery", "fields", "cursor"],
      { type: "string" },
      "is required, but the first page has none yet",
    ],
    ["a cursor that is not sent", seeds("request", "query"), { kind: "kind" }, '"cursor" is not sent'],
    [
      "a size that is none",
      ["tools", "list_reviews", "paging", "page", "size"],
      "sku",
      'the input has no number "sku"',
    ],
    ["an unknown name", seeds("paging", "last"), "isLast", 'there is no "isLast" here'],
    ["a write", seeds("effect"), "write", "the tool is write, and only reads have pages"],
    [
      "a field that is taken",
      ["types", "SeedList", "fields", "more"],
      { type: "boolean" },
      "is where results say that there is more",
    ],
    [
      "links of a POST",
      ["tools", "list_reviews"],
      {
        ...(parse(PAGING) as { tools: Record<string, Tree> }).tools["list_reviews"],
        request: { method: "POST", path: "seeds/{sku}/reviews", body: "json" },
        paging: { items: "reviews", link: true },
      },
      "a link is requested with GET",
    ],
  ])("with %s is refused with what to do", (_, path, value, message) => {
    expect(problemsAfter(PAGING, path, value).join("\n")).toContain(message);
  });
});
