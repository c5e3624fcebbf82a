import { expect, test } from "vitest";
import type { OperationFacts } from "../../documents/api-facts.ts";
import { fieldNames } from "./field-names.ts";
import { toolNames } from "./tool-names.ts";
import { namesByLength, TypeNames } from "./type-names.ts";
import { wordsOf } from "./words.ts";

function operation(key: string, id?: string): OperationFacts {
  const [method = "GET", path = "/"] = key.split(" ");
  const facts = { key, method, path, tags: [], deprecated: false, parameters: [], responses: [], security: [] };
  return { ...facts, evidence: "openapi#/x", ...(id === undefined ? {} : { id }) };
}

function namesOf(...operations: OperationFacts[]): string[] {
  return [...toolNames(operations).values()];
}

test("the words of a name are found in every common spelling", () => {
  expect(wordsOf("getHTTPStatusForURL")).toEqual(["get", "http", "status", "for", "url"]);
  expect(wordsOf("list-pets_by.Name 2")).toEqual(["list", "pets", "by", "name", "2"]);
  expect(wordsOf("Größe des Löwen")).toEqual(["grosse", "des", "lowen"]);
});

test("tools are named after the id, or after method and path", () => {
  expect(namesOf(operation("GET /pets", "listPets"), operation("GET /pets/{id}"), operation("POST /v1/pets"))).toEqual([
    "list_pets",
    "get_pets_by_id",
    "post_pets",
  ]);
  expect(namesOf(operation("GET /猫/{id}", "猫を取得"))).toEqual(["get_by_id"]);
  expect(namesOf(operation("GET /"))).toEqual(["get"]);
  expect(namesOf(operation("GET /2", "2fa"))).toEqual(["call_2fa"]);
});

test("operations of the same name are told apart by method and path, never by counting", () => {
  const same = [
    operation("GET /a/{x}/b"),
    operation("GET /a/b"),
    operation("POST /p", "run"),
    operation("GET /q", "run"),
  ];
  expect(namesOf(...same)).toEqual(
    ["get_a_b_by_x", "get_a_b", "run_post_p", "run_get_q"].map((name) => expect.stringMatching(name)),
  );
  expect(new Set(namesOf(...same)).size).toBe(4);
});

test("a name does not change when other operations are added", () => {
  const known = [operation("GET /pets", "listPets"), operation("GET /long", "x".repeat(30).concat("Y".repeat(60)))];
  const before = toolNames(known);
  const after = toolNames([operation("GET /new", "newOne"), ...known, operation("GET /pets/{id}")]);
  for (const [key, name] of before) expect(after.get(key)).toBe(name);
});

test("a long name is cut after a word and keeps a hash", () => {
  const [name = ""] = namesOf(
    operation("GET /x", "replaceFlowcontrolApiserverV1beta3PriorityLevelConfigurationStatusNow"),
  );
  expect(name).toMatch(/^replace_flowcontrol_.*_[0-9a-f]{6}$/);
  expect(name.length).toBeLessThanOrEqual(64);
});

test("fields keep valid names, and others become valid without a collision", () => {
  expect([
    ...fieldNames(["id", "X-Tenant-Id", "filter[name]", "type", "@type", "$expand", "and", "日本"]).values(),
  ]).toEqual([
    "id",
    "xTenantId",
    "filterName",
    "type",
    expect.stringMatching(/^type_[0-9a-f]{4}$/),
    "expand",
    "andValue",
    expect.stringMatching(/^field_[0-9a-f]{4}$/),
  ]);
});

test("comparisons at the end of a name are spoken", () => {
  expect([...fieldNames(["Date", "Date<", "Date>", "size>=", "size<=", "state!"])]).toEqual([
    ["Date", "Date"],
    ["Date<", "dateLessThan"],
    ["Date>", "dateGreaterThan"],
    ["size>=", "sizeAtLeast"],
    ["size<=", "sizeAtMost"],
    ["state!", "stateNot"],
  ]);
});

test("types are named by the last part of a long name, and never twice", () => {
  expect(namesByLength("io.k8s.api.core.v1.Pod").slice(0, 3)).toEqual(["Pod", "V1Pod", "CoreV1Pod"]);
  const names = new TypeNames();
  expect(names.claim("Pet", "a")).toBe("Pet");
  expect(names.claim("Pet", "a")).toBe("Pet");
  expect(names.claim("Pet", "b")).toMatch(/^Pet_[0-9a-f]{4}$/);
});
