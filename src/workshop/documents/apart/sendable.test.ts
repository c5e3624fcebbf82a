import { expect, test } from "vitest";
import { received, sendable } from "./sendable.ts";

test("what goes to another thread arrives with its functions, maps, sets and lists", () => {
  const inner = { types: ["string"], required: new Set(["a"]), asJsonSchema: () => ({ type: "string" }) };
  const facts = {
    properties: new Map([["constructor", () => inner]]),
    items: () => inner,
    oneOf: [() => inner],
    security: { constructor: { "0": [1, null, undefined] } },
  };
  const sent = received(structuredClone(sendable(facts))) as typeof facts;
  expect(sent.properties.get("constructor")?.().asJsonSchema()).toEqual({ type: "string" });
  expect(sent.items().required).toEqual(inner.required);
  expect(sent.oneOf[0]?.().types).toEqual(inner.types);
  expect(sent.security).toEqual(facts.security);
  expect(sent.items()).toBe(sent.items());
});
