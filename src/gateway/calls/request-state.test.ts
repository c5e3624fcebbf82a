import { expect, test } from "vitest";
import { bindingOf, digestOf, RequestStates } from "./request-state.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { Principal } from "../../server/core/principal.ts";
import { Seal } from "../../server/core/seal.ts";
import { EVERYTHING, type View } from "../names/view.ts";

const WHO = { id: "a", tenant: "t" };
const binding = (principal: Principal, call: { server: string; method: string; params: Params }) =>
  bindingOf({ principal, endpoint: EVERYTHING }, call);
const CALL = { server: "s", method: "tools/call", params: { name: "x", arguments: { a: 1, b: [{ c: 2, d: 3 }] } } };

test("the same call has the same binding, in any order of its members and with any state", () => {
  const again = {
    ...CALL,
    params: {
      requestState: "r",
      inputResponses: { k: {} },
      _meta: { m: 1 },
      task: {},
      arguments: { b: [{ d: 3, c: 2 }], a: 1 },
      name: "x",
    },
  };
  expect(binding(WHO, again)).toBe(binding(WHO, CALL));
});

test.each([
  [{ ...WHO, id: "b" }, CALL],
  [{ ...WHO, tenant: "u" }, CALL],
  [WHO, { ...CALL, server: "z" }],
  [WHO, { ...CALL, method: "prompts/get" }],
  [WHO, { ...CALL, params: { ...CALL.params, name: "y" } }],
  [WHO, { ...CALL, params: { ...CALL.params, arguments: { a: 1, b: [{ c: 2, d: 4 }] } } }],
  [WHO, { ...CALL, params: { ...CALL.params, arguments: { a: 1, b: [{ c: 2 }, { d: 3 }] } } }],
])("another caller, server or call is another (%#)", (who, call) => {
  expect(binding(who, call)).not.toBe(binding(WHO, CALL));
});

test("a state of a call in a set belongs to that set alone", () => {
  const endpoints: View[] = [EVERYTHING, { kind: "set", name: "a" }, { kind: "set", name: "b" }];
  const bindings = endpoints.map((endpoint) => bindingOf({ principal: WHO, endpoint }, CALL));
  expect(new Set(bindings).size).toBe(3);
});

test("a member named like a built-in one counts like any other", () => {
  const parse = (text: string) => digestOf(JSON.parse(text));
  expect(parse(`{"__proto__":{"a":1}}`)).not.toBe(parse(`{}`));
  expect(parse(`{"__proto__":{"a":1}}`)).not.toBe(parse(`{"__proto__":{"a":2}}`));
});

test("a state is valid until it expires", async () => {
  const seal = new Seal();
  const text = new RequestStates(seal, 60_000).seal({ kind: "passed", state: "s" }, "b");
  expect(new RequestStates(seal, 60_000).open(text, "b")).toMatchObject({ kind: "passed", state: "s" });
  const over = new RequestStates(seal, -1).seal({ kind: "passed" }, "b");
  for (const [state, binding] of [
    [over, "b"],
    [text, "c"],
    [undefined, "b"],
  ] as const) {
    expect(() => new RequestStates(seal, 60_000).open(state, binding)).toThrow("request state not valid");
  }
});
