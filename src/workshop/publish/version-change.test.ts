import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { examples } from "../../../test/fixtures/depth.ts";
import { requestsOf } from "../../../test/fixtures/workshop/upstream-request.ts";
import { isForCallers } from "../check/completion.ts";
import { madeUpValue } from "../check/made-up.ts";
import { ValueMaker } from "../check/made-up.ts";
import { compileApi, type CompiledApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { FieldSpec, ScalarShape } from "../file/model/tool-file.ts";
import { changeBetween } from "./version-change.ts";
import { nextVersion } from "./version-number.ts";

type Tree = Record<string, unknown>;

const ORDERS = readTree("../../../test/fixtures/tool-files/orders.nexus.yaml");
const FILES = {
  orders: ORDERS,
  capcorn: readTree("../../../api/capcorn/capcorn.nexus.yaml"),
  museum: readTree("../../../api/museum/museum.nexus.yaml"),
};

function readTree(path: string): Tree {
  return parse(readFileSync(new URL(path, import.meta.url), "utf8")) as Tree;
}

/** Undefined if the file has mistakes. */
function compiled(tree: Tree): CompiledApi | undefined {
  const { file } = readToolFile(stringify(tree), "a file");
  return file && compileApi(file, {}).api;
}

function sound(tree: Tree): CompiledApi {
  const { problems } = readToolFile(stringify(tree), "a file");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  const api = compiled(tree);
  if (!api) throw new Error("not compiled");
  return api;
}

/** Sets the value at a path with dots; undefined removes it. */
function edited(tree: Tree, changes: Record<string, unknown>): Tree {
  const copy = structuredClone(tree);
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split("/");
    const last = steps.pop() ?? "";
    const parent = steps.reduce<Tree>((part, step) => part[step] as Tree, copy);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return copy;
}

const FIND = "types/Find/fields";
const PLACE = "types/Place/fields";
const ORDER = "types/Order/fields";

describe("the kind of a change", () => {
  const kindOf = (changes: Record<string, unknown>) =>
    changeBetween(sound(ORDERS), sound(edited(ORDERS, changes))).kind;

  test.each<[string, Record<string, unknown>]>([
    ["a tool is removed", { "tools/place_order": undefined }],
    ["an argument is removed", { [`${FIND}/tags`]: undefined, "tools/find_order/request/query/tag": undefined }],
    ["a new argument is required", { [`${PLACE}/store`]: { type: "string" } }],
    ["an argument becomes required", { [`${PLACE}/note/optional`]: false }],
    ["an argument has another type", { "types/Line/fields/count": { type: "string" } }],
    ["an argument is shorter", { [`${FIND}/id/maxLength`]: 7 }],
    ["an argument has a limit that it did not have", { "types/Customer/fields/age/maximum": 99 }],
    ["an argument has another pattern", { [`${FIND}/id/pattern`]: "^[A-Z]+$" }],
    ["an argument has one value less", { "types/Line/fields/article/enum": ["pen", "ink"] }],
    ["a list may have fewer items", { [`${FIND}/tags/maxItems`]: 2 }],
    ["a default is changed", { [`${FIND}/limit/default`]: 10 }],
    ["a new argument has a default", { [`${PLACE}/gift`]: { type: "boolean", default: false } }],
    ["a constant is changed", { [`${PLACE}/channel/const`]: "mcp" }],
    ["a computed value is changed", { [`${PLACE}/region/value`]: "settings.region + 'x'" }],
    ["a code is renamed", { [`${FIND}/state/codes/3`]: "shipped", [`${ORDER}/state/codes/3`]: "shipped" }],
    ["a code is removed", { [`${FIND}/state/codes/3`]: undefined }],
    ["a field is sent under another name", { [`${PLACE}/note/wire`]: "remark" }],
    ["a number is written otherwise", { "types/Line/fields/price/decimals": 1 }],
    ["a rule is added", { "types/Customer/rules": [{ that: "age > 17", say: "too young" }] }],
    ["another address is called", { "upstream/base": "https://orders.example/v2/" }],
    ["another method is used", { "tools/place_order/request/method": "PUT" }],
    ["the effect is raised", { "tools/find_order/effect": "write" }],
    ["the effect is lowered", { "tools/place_order/effect": "read" }],
    [
      "a parameter is sent under another name",
      {
        "tools/find_order/request/query": { status: "state", from: "from", to: "to", limit: "limit", tag: "tags" },
      },
    ],
    ["a field is missing in the result", { [`${ORDER}/total`]: undefined }],
    ["a field of the result has another type", { [`${ORDER}/total/type`]: "string" }],
    ["a field of the result may be missing", { [`${ORDER}/id/optional`]: true }],
    ["a setting is needed", { "settings/shop": { example: "main" } }],
    ["a tool is no longer in the list", { "tools/find_order/offer": "search" }],
    ["a tool has less time", { "tools/find_order/limits": { timeout: "1s" } }],
    ["a field is null instead of missing", { [`${PLACE}/note/nullable`]: true }],
  ])("is breaking if %s", (_, changes) => expect(kindOf(changes)).toBe("breaking"));

  test.each<[string, Record<string, unknown>]>([
    [
      "a tool is added",
      { "tools/find_again": { ...((ORDERS["tools"] as Tree)["find_order"] as Tree), title: "Again" } },
    ],
    ["an argument is added that may be left out", { [`${PLACE}/gift`]: { type: "boolean", optional: true } }],
    [
      "a parameter is added that may be left out",
      {
        [`${FIND}/shop`]: { type: "string", optional: true },
        "tools/find_order/request/query/shop": "shop",
      },
    ],
    ["an argument may be left out", { [`${PLACE}/customer/optional`]: true }],
    ["an argument may be longer", { [`${FIND}/id/maxLength`]: 9 }],
    ["an argument has no pattern any more", { [`${FIND}/id/pattern`]: undefined }],
    ["an argument has one value more", { "types/Line/fields/article/enum": ["pen", "ink", "nib", "pad"] }],
    ["a code is added", { [`${FIND}/state/codes/4`]: "returned", [`${ORDER}/state/codes/4`]: "returned" }],
    ["a rule is gone", { "types/Find/rules": [] }],
    ["a field is added to the result", { [`${ORDER}/paid`]: { type: "boolean", optional: true } }],
    ["a field of the result is always there", { [`${ORDER}/total/optional`]: false }],
    [
      "an alternative is added",
      {
        "types/Cash": { fields: { kind: { const: "cash" } } },
        "types/Payment/oneOf": ["Card", "Bill", "Cash"],
        "types/Payment/discriminator/values/cash": "Cash",
      },
    ],
    ["a setting with a default is added", { "settings/shop": { default: "main" } }],
    ["a tool has more time", { "tools/find_order/limits": { timeout: "60s" } }],
  ])("is widened if %s", (_, changes) => expect(kindOf(changes)).toBe("widened"));

  test.each<[string, Record<string, unknown>]>([
    ["a title", { title: "All orders" }],
    ["a description", { [`${PLACE}/note/description`]: "Shown to everybody." }],
    ["the version in the file", { version: "1.0.1" }],
    ["the words for a failure", { "tools/find_order/errors": [{ status: [404], say: "Not found." }] }],
    ["the first line of results", { "tools/find_order/response/text": "The order {id}" }],
    ["a format that is not checked", { "types/Customer/fields/email/format": "idn-email" }],
  ])("is wording if only %s is changed", (_, changes) => expect(kindOf(changes)).toBe("wording"));

  test("is none if nothing is changed, and a change names its place, its words and what it means", () => {
    const before = sound(ORDERS);
    expect(changeBetween(before, sound(ORDERS))).toEqual({ kind: "none", changes: [] });
    const after = sound(edited(ORDERS, { [`${FIND}/id/maxLength`]: 7, title: "All orders" }));
    expect(changeBetween(before, after)).toEqual({
      kind: "breaking",
      changes: [
        expect.objectContaining({ means: "breaking", path: "types.Find.fields.id.shape.maxLength", message: "8 → 7" }),
        expect.objectContaining({ means: "wording", path: "title" }),
      ],
    });
  });

  test("a new argument is breaking where unknown arguments were dropped before", () => {
    const dropping = edited(ORDERS, { "tools/place_order/unknown": "drop" });
    const after = edited(dropping, { [`${PLACE}/gift`]: { type: "boolean", optional: true } });
    expect(changeBetween(sound(dropping), sound(after)).kind).toBe("breaking");
  });

  test("the next version follows from the kind", () => {
    expect(nextVersion("1.4.2", "breaking")).toBe("2.0.0");
    expect(nextVersion("1.4.2", "widened")).toBe("1.5.0");
    expect(nextVersion("1.4.2", "wording")).toBe("1.4.3");
  });
});

/** A deterministic source of numbers below 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** All places in a part of a tree. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))];
}

const MEMBERS: Readonly<Record<string, readonly unknown[]>> = {
  optional: [true, false],
  maxLength: [3, 200],
  minLength: [0, 2],
  minimum: [0, 2],
  maximum: [5, 10_000],
  maxItems: [1, 50],
  default: [1, "x", true],
  hidden: [true],
  nullable: [true],
  wire: ["other", false],
  pattern: ["^.*$"],
  enum: [["a", "b"]],
  codes: [{ 1: "one", 2: "two" }],
  format: ["email"],
};

/** The tree with one random change. */
function mutated(tree: Tree, random: () => number): Tree {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const places = placesIn(tree).filter(([section]) => section === "types" || section === "tools");
  const path = pick(places);
  const copy = structuredClone(tree);
  const last = path.at(-1) ?? "";
  const parent = path.slice(0, -1).reduce<Tree>((part, step) => part[step] as Tree, copy);
  const value = parent[last];
  if (Array.isArray(value)) {
    const change = pick(["push", "pop", "reverse"] as const);
    parent[last] =
      change === "push" ? [...value, pick(["new", 7])] : change === "pop" ? value.slice(0, -1) : value.toReversed();
  } else if (typeof value === "object" && value !== null) {
    const [entries, kind] = [Object.entries(value), pick(["remove", "add", "member", "reverse"] as const)];
    if (kind === "remove") parent[last] = Object.fromEntries(entries.slice(1));
    if (kind === "reverse") parent[last] = Object.fromEntries(entries.toReversed());
    const name = pick(Object.keys(MEMBERS));
    if (kind === "member") parent[last] = { ...value, [name]: pick(MEMBERS[name] ?? []) };
    const added = { type: pick(["string", "integer", "boolean"]), ...(random() < 0.7 ? { optional: true } : {}) };
    if (kind === "add") parent[last] = { ...value, added };
  } else if (typeof value === "number") parent[last] = value + pick([-1, 1, 10]);
  else if (typeof value === "boolean") parent[last] = !value;
  else if (random() < 0.4) delete parent[last];
  else parent[last] = pick(["string", "integer", "number", `${String(value)}x`]);
  return copy;
}

/** Random arguments that are often valid. */
function callOf({ file }: CompiledApi, type: string, random: () => number): Tree {
  let day = Date.parse("2026-07-01") + Math.floor(random() * 100) * 86_400_000;
  const single = (shape: ScalarShape) => {
    if (shape.type === "date") return new Date((day += 86_400_000)).toISOString().slice(0, 10);
    const values = shape.codes ? Object.values(shape.codes) : shape.enum;
    const sizes = [shape.minimum, shape.maximum, shape.minLength, shape.maxLength].filter((each) => each !== undefined);
    const size = sizes[Math.floor(random() * sizes.length)] ?? 3;
    const tried = values?.[Math.floor(random() * values.length)] ?? (shape.type === "string" ? "A".repeat(size) : size);
    return random() < 0.8 ? madeUpValue(shape, tried) : madeUpValue(shape);
  };
  const isGiven = (field: FieldSpec, isDeep: boolean) =>
    isForCallers(field) && ((!field.optional && field.default === undefined) || (!isDeep && random() < 0.5));
  return new ValueMaker(file, { side: "input", isGiven, single }).value(type);
}

/** More are tried with NEXUS_VERSION_ROUNDS. */
const ROUNDS = process.env["NEXUS_VERSION_ROUNDS"];
const USUAL = { orders: 60, capcorn: 25, museum: 15 };

describe("a change that is not breaking", () => {
  test.each(["orders", "capcorn", "museum"] as const)("accepts every call of %s, and sends the same", (name) => {
    const tree = FILES[name];
    const before = sound(tree);
    const rounds = Number(ROUNDS ?? examples(USUAL[name]));
    const random = randomOf(name.length);
    const compared = { harmless: 0, calls: 0 };
    for (let round = 0; round < rounds; round++) {
      const changed = Array.from({ length: 1 + Math.floor(random() * 2) }).reduce<Tree>(
        (each) => mutated(each, random),
        tree,
      );
      const after = compiled(changed);
      if (!after || changeBetween(before, after).kind === "breaking") continue;
      compared.harmless++;
      for (const [tool, { request, input }] of Object.entries(before.file.tools)) {
        if (!request) continue;
        const [old, now] = [requestsOf(before, tool), requestsOf(after, tool)];
        for (let call = 0; call < 5; call++) {
          const args = callOf(before, input, random);
          const sent = old(args);
          if ("problems" in sent) continue;
          compared.calls++;
          expect(now(args), JSON.stringify({ tool, args, changes: changeBetween(before, after).changes })).toEqual(
            sent,
          );
        }
      }
    }
    expect(compared.harmless).toBeGreaterThan(rounds / 50);
    expect(compared.calls).toBeGreaterThan(rounds / 20);
  });
});
