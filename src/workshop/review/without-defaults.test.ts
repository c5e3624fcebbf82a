import { expect, test } from "vitest";
import { withoutDefaults } from "./field-text.ts";

test("a part is shown without what is the same as not written", () => {
  const shape = { kind: "scalar", type: "string", whitespace: "keep" };
  const field = { wire: "id", shape, optional: false, hidden: false, evidence: ["manual#L1"] };
  expect(withoutDefaults({ xml: {}, fields: { id: field }, rules: [] })).toEqual({
    fields: { id: { wire: "id", shape: "string", evidence: ["manual#L1"] } },
  });
});

test("what is not a default stays, also with the name of one", () => {
  const shape = { kind: "scalar", type: "string", maxLength: 8, whitespace: "collapse" };
  const part = { optional: true, default: [], shape, query: { id: { field: "id", style: "repeat" } } };
  expect(withoutDefaults(part)).toEqual(part);
});
