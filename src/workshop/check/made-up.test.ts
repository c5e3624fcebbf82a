import { expect, test } from "vitest";
import { field, smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import type { ScalarShape } from "../file/model/tool-file.ts";
import { madeUp, madeUpValue } from "./made-up.ts";

const PLAIN = { kind: "scalar", type: "string", whitespace: "keep" } as const;
const COLOUR: ScalarShape = { ...PLAIN, enum: ["red", "green"] };

test.each<[ScalarShape, unknown, unknown]>([
  [COLOUR, "green", "green"],
  [COLOUR, "blue", "red"],
  [{ ...PLAIN, type: "integer", enum: [1, 2] }, 3, 1],
  [{ ...PLAIN, codes: { a: "one", b: "two" } }, "b", "one"],
  [{ ...PLAIN, type: "date" }, "2026-02-30", "2026-01-01"],
  [{ ...PLAIN, maxLength: 3 }, "long text", "AB"],
])("a made-up value of %j for %j in the request is %j", (shape, asked, value) => {
  expect(madeUpValue(shape, asked)).toBe(value);
});

test("a made-up answer takes a value of the request only in the places whose type allows it", () => {
  const file = smallFile();
  const items = { kind: "list", of: { kind: "object", type: "Item" }, keepEmpty: true } as const;
  file.types["Report"] = { xml: {}, rules: [], fields: { type: field("string"), data: field(items) } };
  file.types["Item"] = { xml: {}, rules: [], fields: { type: field(COLOUR) } };
  expect(madeUp(file, "Report", { input: { type: "report" } })).toEqual({ type: "report", data: [{ type: "red" }] });
});
