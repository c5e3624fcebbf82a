import { expect, test } from "vitest";
import { canonicalXml } from "../../../test/fixtures/workshop/canonical-xml.ts";
import { offSchema } from "./responder.ts";

test("a document loses a value, gets a word for a number, and an unknown member", () => {
  const xml = `<stay xmlns="urn:x"><arrival>2025-12-17</arrival><name>A</name><adults>2</adults></stay>`;
  expect(canonicalXml(offSchema(xml, "xml"))).toEqual([
    "{urn:x}stay",
    [],
    ["{urn:x}name", [], "A"],
    ["{urn:x}adults", [], "many"],
    ["{urn:x}unexpected", [], "news"],
  ]);
});

test("a document of attributes loses its last one", () => {
  const xml = `<answer><done/><id type="14" value="A-1"/></answer>`;
  expect(canonicalXml(offSchema(xml, "xml"))).toEqual([
    "{}answer",
    [],
    ["{}done", []],
    ["{}id", ["{}type=14"]],
    ["{}unexpected", [], "news"],
  ]);
});

test("in JSON, the first object with values is changed", () => {
  const json = JSON.stringify({
    page: {},
    items: [
      { id: "a", size: 3, tags: ["x"] },
      { id: "b", size: 4 },
    ],
  });
  expect(JSON.parse(offSchema(json, "json"))).toEqual({
    page: {},
    items: [
      { size: "many", tags: ["x"], unexpected: "news" },
      { id: "b", size: 4 },
    ],
  });
  expect(offSchema("[]", "json")).toBe("[]");
});
