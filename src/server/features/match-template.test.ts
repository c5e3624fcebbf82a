import { expect, test } from "vitest";
import { cpuClock } from "../../../test/fixtures/cpu-time.ts";
import { matchTemplate } from "./feature-methods.ts";

test.each<[template: string, uri: string, variables: Record<string, string> | undefined]>([
  ["memo://all", "memo://all", {}],
  ["memo://all", "memo://al", undefined],
  ["memo://{day}", "memo://monday", { day: "monday" }],
  ["memo://{day}", "memo://", undefined],
  ["memo://{day}", "memo://a/b", undefined],
  ["memo://{day}", "memo://a%2Fb%20c", { day: "a/b c" }],
  ["memo://{day}", "memo://100%", { day: "100%" }],
  ["memo://{day}.txt", "memo://monday.txt.txt", { day: "monday.txt" }],
  ["memo://{day}.txt", "memo://.txt", undefined],
  ["memo://{day}.txt", "memo://mondayxtxt", undefined],
  [
    "{scheme}://{host}/v{major}.{minor}/x",
    "http://a/v1.2.3/x",
    { scheme: "http", host: "a", major: "1.2", minor: "3" },
  ],
  ["x://{a}-{b}-{c}", "x://1-2-3-4", { a: "1-2", b: "3", c: "4" }],
  ["x://{a}-{b}-{c}", "x://--3-4", { a: "-", b: "3", c: "4" }],
  ["x://{a}-{b}-{c}", "x://---4", undefined],
  ["x://{a}{b}", "x://123", { a: "12", b: "3" }],
  ["x://{a}{b}", "x://1", undefined],
  ["x://a{a}a", "x://a", undefined],
  ["x://{+path}", "x://{+path}", {}],
  ["x://{__proto__}", "x://y", JSON.parse(`{"__proto__":"y"}`) as Record<string, string>],
])("the template %s has variables of the URI %s", (template, uri, variables) => {
  expect(matchTemplate(template, uri)).toEqual(variables);
});

test("a long URI is matched against several variables in no time", () => {
  const uri = `x://${"-".repeat(1_000_000)}`;
  const spentMs = cpuClock();
  expect(matchTemplate("x://{a}-{b}-{c}-{d}", `${uri}/`)).toBeUndefined();
  expect(matchTemplate("x://{a}-{b}-{c}-{d}.", uri)).toBeUndefined();
  expect(matchTemplate("x://{a}-{b}-{c}-{d}", uri)).toMatchObject({ b: "-", c: "-", d: "-" });
  expect(spentMs()).toBeLessThan(1000);
});
