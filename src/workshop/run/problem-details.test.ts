import { expect, test } from "vitest";
import { isProblem, problemText } from "./status-failure.ts";

test.each<[Record<string, unknown>, string]>([
  [{ type: "about:blank", title: "Not Found", status: 404 }, "Not Found"],
  [
    { type: "https://shop.example/credit", title: "Not enough credit.", detail: "Your balance is 30.", status: 403 },
    "Not enough credit: Your balance is 30",
  ],
  [
    {
      title: "Invalid values",
      status: 422,
      errors: [
        { detail: "must be a positive integer", pointer: "#/age" },
        { detail: "must be green or red", pointer: "#/colour" },
      ],
    },
    "Invalid values (#/age: must be a positive integer; #/colour: must be green or red)",
  ],
  [{ title: "Invalid", "invalid-params": [{ name: "age", reason: "too small" }] }, "Invalid (age: too small)"],
  [
    { title: "Invalid", errors: { age: ["too small", "odd"], name: "missing" } },
    "Invalid (age: too small; age: odd; name: missing)",
  ],
  [{ detail: "x", violations: [{ propertyPath: "a.b", message: "blank" }, "c"] }, "x (a.b: blank; c)"],
  [{ title: "T", errors: [{ source: { pointer: "/data/x" }, title: "bad" }] }, "T (/data/x: bad)"],
])("the problem %j is told in one line", (problem, text) => {
  expect(problemText(problem)).toBe(text);
});

test("many single problems are shortened, and an empty problem has no text", () => {
  expect(problemText({ errors: Array.from({ length: 14 }, (_, at) => `e${at}`) })).toMatch(/e9; and 4 more$/);
  expect(problemText({ status: 500, errors: [7, {}, null] })).toBe("7");
  expect(problemText({ status: 500 })).toBeUndefined();
});

test("a problem is recognised by its media type, or by its members", () => {
  expect(isProblem({ a: 1 }, "application/problem+json; charset=utf-8")).toBe(true);
  expect(isProblem({ title: "x", detail: "y", status: 400 }, "application/json")).toBe(true);
  expect(isProblem({ title: "A book", status: "sold" }, "application/json")).toBe(false);
  expect(isProblem("text", "application/problem+json")).toBe(false);
});
