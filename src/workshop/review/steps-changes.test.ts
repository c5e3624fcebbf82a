import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileApi, type CompiledApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import { differences } from "./differences.ts";

const STEPS = readFileSync("examples/workshop/steps.nexus.yaml", "utf8");
const PAGING = readFileSync("examples/workshop/paging.nexus.yaml", "utf8");

function compiled(text: string): CompiledApi {
  const { file } = readToolFile(text, "x.nexus.yaml");
  return compileApi(file ?? expect.fail(), {}).api;
}

function changesAfter(text: string, from: string, to: string): string[] {
  expect(text).toContain(from);
  return differences(compiled(text), compiled(text.replace(from, to))).map(({ kind, path }) => `${kind}: ${path}`);
}

const EXTRA = "audit: { call: create_customer, arguments: { email: audit@example.com } }\n      ready:";

describe("a change of steps is reported by its kind", () => {
  test.each<[string, string, string, string]>([
    ["a step is new", "ready:\n", `${EXTRA}\n`, "endpoint added: tools.create_order.steps.audit"],
    [
      "it calls another tool",
      "call: post_order",
      "call: create_order_twin",
      "endpoint added: tools.create_order.steps.order.call",
    ],
    [
      "its arguments change",
      '"= line.units"',
      '"= line.units + 1"',
      "wire changed: tools.create_order.steps.lines.arguments.units",
    ],
    [
      "its condition changes",
      "when: count(customers.items) == 0",
      "when: count(customers.items) < 2",
      "wire changed: tools.create_order.steps.created.when",
    ],
    ["it may be made more often", "max: 10", "max: 100", "wire changed: tools.create_order.steps.lines.each.max"],
    [
      "the result changes",
      'state: "= ready.state"',
      'state: "= order.id"',
      "answer changed: tools.create_order.response.give.state",
    ],
  ])("%s", (_, from, to, expected) => {
    const twin = STEPS.replace(
      /( {2}post_order:\n[^]*?)(?= {2}add_line:)/,
      (tool: string) => `${tool}${tool.replace("post_order", "create_order_twin")}`,
    );
    expect(changesAfter(twin, from, to)).toContain(expected);
  });

  test("another order of the steps", () => {
    const [, created = ""] = /( {6}created: .*\n)/.exec(STEPS) ?? [];
    const text = STEPS.replace("= if(created == null, customers.items[0].id, created.id)", "= customers.items[0].id");
    const moved = text.replace(created, "").replace("      lines:\n", `${created}      lines:\n`);
    const changes = differences(compiled(text), compiled(moved)).map(({ kind, path }) => `${kind}: ${path}`);
    expect(changes).toEqual(["wire changed: tools.create_order.steps.(order)"]);
  });

  test("a new tool says what it calls, and a request that steps replace is reported", () => {
    const all = differences(undefined, compiled(STEPS));
    expect(all.find(({ path }) => path === "create_order")?.message).toBe(
      '"Create an order" (write, calls find_customers, create_customer, post_order, add_line, get_order)',
    );
    const before = compiled(
      STEPS.replace(
        / {4}steps:\n {6}customers[^]*? {4}response:\n[^]*? {4}limits/,
        `    request: { method: POST, path: x, body: json }\n    response: { as: json, type: OrderResult, text: x }\n    limits`,
      ),
    );
    const kinds = differences(before, compiled(STEPS)).map(({ kind, path }) => `${kind}: ${path}`);
    expect(kinds).toContain("endpoint added: tools.create_order.steps");
    expect(kinds).toContain("endpoint removed: tools.create_order.request");
  });

  test("paging", () => {
    expect(changesAfter(PAGING, "maxPages: 2", "maxPages: 3")).toEqual([
      "wire changed: tools.list_seeds.paging.maxPages",
    ]);
  });
});
