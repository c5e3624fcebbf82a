import fc from "fast-check";
import { expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import type { RequestSpec, ToolSpec } from "../../file/model/tool-file.ts";
import { encodeQuery } from "./address.ts";
import { requestPartsFor } from "./request-parts.ts";
import { examples } from "../../../../test/fixtures/depth.ts";

function partsOf(request: Partial<RequestSpec>) {
  const file = fileOf({
    In: {
      fields: {
        id: { optional: true },
        on: { type: "date", optional: true },
        tags: { list: "string", optional: true },
        language: { codes: { de: "german" }, optional: true },
        full: { type: "boolean", optional: true },
        version: { const: "2" },
      },
    },
  });
  const spec = { input: "In", request: { method: "GET", path: "x", query: {}, headers: {}, ...request } };
  return requestPartsFor({ ...file, tools: { get: spec as unknown as ToolSpec } }, "get");
}

test("arguments are written in the tool's places and in the upstream format", () => {
  const parts = partsOf({
    path: "museums/{id}/hours/{on}",
    query: {
      tag: { field: "tags", style: "repeat" },
      all: { field: "tags", style: "comma" },
      "a b": { field: "full", style: "repeat" },
      v: { field: "version", style: "repeat" },
    },
    headers: { "X-Language": "language" },
  });
  expect(parts({ id: "a b?c#", on: "2026-05-02", tags: ["s&t", "ü"], full: true, language: "german" })).toEqual({
    path: "museums/a%20b%3Fc%23/hours/2026-05-02",
    query: "tag=s%26t&tag=%C3%BC&all=s%26t,%C3%BC&a%20b=true&v=2",
    headers: { "X-Language": "de" },
  });
  expect(parts({ id: "1", on: "2026-05-02" })).toEqual({
    path: "museums/1/hours/2026-05-02",
    query: "v=2",
    headers: {},
  });
});

test("no value adds a segment to a path or leaves it (R8)", () => {
  const parts = partsOf({ path: "a/{id}/b" });
  const check = (id: string) => {
    try {
      const url = new URL(parts({ id }).path, "https://api.example/v1/");
      expect(url.pathname.split("/")).toHaveLength(5);
      expect([url.origin, url.search, url.hash]).toEqual(["https://api.example", "", ""]);
      expect(url.pathname).toMatch(/^\/v1\/a\/[^/]+\/b$/);
    } catch (error) {
      expect(error).toMatchObject({ code: "ARGUMENTS_INVALID" });
    }
  };
  for (const id of [".", "..", "", "/", "\\", "..\\", "../../..", "%2e%2e", "%2f", "?", "#", "//evil", "\uD800", "a\n"])
    check(id);
  fc.assert(fc.property(fc.string({ unit: "binary-ascii" }), check), { numRuns: examples(500) });
  expect(() => parts({ id: ".." })).toThrow(`id must not be ".."`);
  expect(() => parts({ id: "a/b" })).toThrow("id must not contain slashes");
  expect(() => parts({})).toThrow("id is missing, and the address needs it");
});

test.each(["a\r\nX-Admin: 1", "a\u0000", "ü", "\t"])("a header value cannot begin another header: %j (R8)", (id) => {
  expect(() => partsOf({ headers: { "X-Id": "id" } })({ id })).toThrow(
    /^id contains characters that a header cannot hold/,
  );
});

test("values that the style cannot carry, and fields that do not exist, are refused", () => {
  const comma = partsOf({ query: { t: { field: "tags", style: "comma" } } });
  expect(() => comma({ tags: ["a,b", "c"] })).toThrow("tags must not contain commas");
  expect(() => comma({ tags: ["a", 1] })).toThrow("tags[1] expected text");
  expect(() => partsOf({ path: "{nothing}" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});

test("a query is decoded to the values it was made from", () => {
  const pairs = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })));
  const check = (each: [string, string][]) => {
    expect([...new URL(`https://x/?${encodeQuery(each)}`).searchParams]).toEqual(each);
  };
  fc.assert(fc.property(pairs, check));
});
