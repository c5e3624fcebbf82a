import { expect, test } from "vitest";
import type { ServerCapabilities } from "../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../protocol/meta.ts";
import { hasLogLevelOfConnection, newestCapabilities, newestResult, unstatedLifetimeMs } from "./newest-form.ts";

const LEGACY = { era: "legacy" } as const;

test("a result of a legacy server is complete, even if it has another result type", () => {
  const content = [{ type: "text", text: "a" }];
  expect(newestResult(LEGACY, "tools/call", { resultType: "task", content })).toEqual({
    resultType: "complete",
    content,
  });
});

test("the tools of a legacy server are listed without what only its revision knows", () => {
  const tools = [{ name: "a", execution: { taskSupport: "required" } }, { name: "b" }, null];
  expect(newestResult(LEGACY, "tools/list", { tools })["tools"]).toEqual([{ name: "a" }, { name: "b" }, null]);
  expect(newestResult({ era: "modern" }, "tools/list", { tools })["tools"]).toBe(tools);
});

const declared = (protocolVersion: string, serverCapabilities: ServerCapabilities) =>
  newestCapabilities({ era: "legacy", protocolVersion, serverCapabilities });

test("a server of 2025-11-25 that runs tools as tasks declares the extension of the newest revision", () => {
  const tasks = { requests: { tools: { call: {} } } };
  const extensions = { [TASKS_EXTENSION]: {} };
  expect(declared("2025-11-25", { tools: {}, tasks })).toEqual({ tools: {}, extensions });
  expect(declared("2025-11-25", { tools: {}, tasks: {} })).toEqual({ tools: {} });
});

test("a server from before completions could be declared may have them", () => {
  expect(declared("2024-11-05", { prompts: {} })).toEqual({ prompts: {}, completions: {} });
  expect(declared("2024-11-05", { tools: {} })).toEqual({ tools: {} });
  expect(declared("2025-03-26", { prompts: {} })).toEqual({ prompts: {} });
});

test("only legacy servers that log have one log level for the connection", () => {
  const serverCapabilities = { logging: {} };
  expect(hasLogLevelOfConnection({ era: "legacy", serverCapabilities })).toBe(true);
  expect(hasLogLevelOfConnection({ era: "legacy", serverCapabilities: {} })).toBe(false);
  expect(hasLogLevelOfConnection({ era: "modern", serverCapabilities })).toBe(false);
});

test("a list without a stated lifetime is used for a minute only if its server could not state one", () => {
  expect(unstatedLifetimeMs({ era: "legacy" })).toBe(60_000);
  expect(unstatedLifetimeMs({ era: "modern" })).toBe(0);
});
