import { expect, test } from "vitest";
import { capabilitiesFor, legacyCapabilities, NO_CAPABILITIES } from "./upstream-capabilities.ts";

const ask = () => Promise.resolve({});
const modern = { era: "modern", owner: "o", ask: undefined } as const;
const legacy = { era: "legacy", owner: "o", ask } as const;
const TASKS = { "io.modelcontextprotocol/tasks": {} };

test("a server is told no more than the caller declared, without what was between it and the gateway", () => {
  const capabilities = { tasks: { list: {} }, roots: { listChanged: true }, elicitation: { url: {} }, "x/y": { z: 1 } };
  expect(capabilitiesFor({ ...legacy, capabilities })).toEqual({
    roots: {},
    elicitation: { url: {} },
    "x/y": { z: 1 },
  });
});

test("callers that can do the same declare the same, in whichever order they say it", () => {
  const one = capabilitiesFor({ ...modern, capabilities: { sampling: {}, elicitation: {} } });
  const two = capabilitiesFor({ ...modern, capabilities: { elicitation: {}, sampling: {} } });
  expect(JSON.stringify(one)).toBe(JSON.stringify(two));
});

test("a legacy caller without a stream cannot be asked", () => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  expect(capabilitiesFor({ ...legacy, ask: undefined, capabilities })).toBe(NO_CAPABILITIES);
  expect(capabilitiesFor({ ...modern, capabilities })).toEqual(capabilities);
});

test("legacy servers hear nothing of the tasks extension", () => {
  expect(legacyCapabilities({ extensions: TASKS })).toBe(NO_CAPABILITIES);
  expect(legacyCapabilities({ roots: {}, extensions: { ...TASKS, "x/y": {} } })).toEqual({
    roots: {},
    extensions: { "x/y": {} },
  });
});
