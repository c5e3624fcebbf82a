import { expect, test } from "vitest";
import { capabilitiesFor, legacyCapabilities, NO_CAPABILITIES } from "./upstream-leases.ts";

const ask = () => Promise.resolve({});
const modern = { era: "modern", owner: "o", ask: undefined } as const;
const legacy = { era: "legacy", owner: "o", ask } as const;
const TASKS = { "io.modelcontextprotocol/tasks": {} };

test("a server gets no more capabilities than the caller declared, without those that concern only the gateway", () => {
  const capabilities = { tasks: { list: {} }, roots: { listChanged: true }, elicitation: { url: {} }, "x/y": { z: 1 } };
  expect(capabilitiesFor({ ...legacy, capabilities })).toEqual({
    roots: {},
    elicitation: { url: {} },
    "x/y": { z: 1 },
  });
});

test("equal capabilities are declared equally, in any order", () => {
  const one = capabilitiesFor({ ...modern, capabilities: { sampling: {}, elicitation: {} } });
  const two = capabilitiesFor({ ...modern, capabilities: { elicitation: {}, sampling: {} } });
  expect(JSON.stringify(one)).toBe(JSON.stringify(two));
});

test("a legacy caller without a stream cannot be asked", () => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  expect(capabilitiesFor({ ...legacy, ask: undefined, capabilities })).toBe(NO_CAPABILITIES);
  expect(capabilitiesFor({ ...modern, capabilities })).toEqual(capabilities);
});

test("legacy servers do not get the tasks extension", () => {
  expect(legacyCapabilities({ extensions: TASKS })).toBe(NO_CAPABILITIES);
  expect(legacyCapabilities({ roots: {}, extensions: { ...TASKS, "x/y": {} } })).toEqual({
    roots: {},
    extensions: { "x/y": {} },
  });
});
