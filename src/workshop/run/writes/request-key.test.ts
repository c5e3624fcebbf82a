import { expect, test } from "vitest";
import { defaultInstance } from "../../../auth/server-instance.ts";
import { formerRequestKeys, LOCAL_CALLER, requestKey } from "./request-key.ts";

const of = defaultInstance("shop");
const write = { of, tool: "order", caller: "ann", input: { name: "Zo\u00eb", units: 1, tags: ["a", "b"] } };
const key = (more: Partial<typeof write> | { input: unknown }) => requestKey({ ...write, ...more });

test.each<[string, unknown]>([
  ["members in another order", { tags: ["a", "b"], units: 1, name: "Zo\u00eb" }],
  ["accents as characters of their own", { ...write.input, name: "Zoe\u0308" }],
  ["a whole number with decimals", { ...write.input, units: JSON.parse("1.0") as number }],
  ["something that is not there", { ...write.input, note: undefined }],
])("the same arguments have the same key: %s", (_, input) => {
  expect(key({ input })).toBe(key({}));
});

test("any difference makes another key", () => {
  const others = [
    { of: { ...of, server: "shop2" } },
    { of: { ...of, tenant: "other" } },
    { of: { ...of, instance: "test" } },
    { of: { ...of, instance: "default5:order" } },
    { tool: "order2" },
    { caller: "bob" },
    { input: { ...write.input, units: 2 } },
    { input: { ...write.input, tags: ["b", "a"] } },
    { input: { ...write.input, name: "Zoe" } },
    { input: { ...write.input, units: "1" } },
  ];
  expect(new Set([write, ...others].map(key)).size).toBe(others.length + 1);
});

test("the keys of earlier versions stay the same", () => {
  expect(formerRequestKeys("shop", write)).toEqual(["X6NMLLTK8BS69P7S5735"]);
  expect(formerRequestKeys("shop", { ...write, caller: LOCAL_CALLER })).toEqual([
    "MN7MXVLEEBDC44UM3GWG",
    "ULXXJN6ACJ3YWN3K4EXD",
  ]);
});
