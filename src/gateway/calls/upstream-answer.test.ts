import { describe, expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Caller } from "../../server/core/core.ts";
import { canonicalError, canonicalResult } from "./upstream-call.ts";

const MODERN = { era: "modern", version: "2026-07-28" } as Caller;
const LEGACY = { era: "legacy", version: "2025-11-25" } as Caller;
const OLDER = { era: "legacy", version: "2025-06-18" } as Caller;

const told = (code: number, caller: Caller) => {
  const rpc = { code, message: "m", data: { d: 1 } };
  return canonicalError(new NexusError("SERVER_ERROR", "m", { rpc }), caller).details.rpc;
};

describe("errors", () => {
  test.each([-32700, -32600, -32601, -32602, -32603, -1, 404, -32100])("%i is passed on unchanged", (code) => {
    expect(told(code, MODERN)).toEqual({ code, message: "m", data: { d: 1 } });
  });

  test("an unknown resource has one error code", () => {
    expect(told(-32002, MODERN)).toEqual({ code: -32602, message: "m", data: { d: 1 } });
    expect(told(-32002, LEGACY)).toMatchObject({ code: -32602 });
  });

  test.each([-32000, -32001, -32020, -32022, -32050, -32099])(
    "%i means nothing to a caller, who is told the old code",
    (code) => {
      for (const caller of [MODERN, LEGACY]) {
        expect(told(code, caller)).toEqual({ code: -32603, message: "m", data: { code, data: { d: 1 } } });
      }
    },
  );

  test("a missing capability is reported to callers that can declare it with the next request", () => {
    expect(told(-32021, MODERN)).toMatchObject({ code: -32021 });
    expect(told(-32021, LEGACY)).toMatchObject({ code: -32603, data: { code: -32021 } });
  });

  test("URLs to visit are sent to callers that know the error code", () => {
    expect(told(-32042, LEGACY)).toMatchObject({ code: -32042 });
    expect(told(-32042, OLDER)).toMatchObject({ code: -32603 });
    const required = { requiredCapabilities: { elicitation: { url: {} } } };
    expect(told(-32042, MODERN)).toEqual({
      code: -32021,
      message: "m (This client does not declare elicitation.url.)",
      data: required,
    });
  });

  test("a question that was not declared is a protocol violation of the server", () => {
    const error = canonicalError(new NexusError("CAPABILITY_MISSING", "m"), LEGACY);
    expect(error.code).toBe("PROTOCOL_VIOLATION");
  });
});

describe("results", () => {
  test("are complete unless they say otherwise, and keep members that are not reserved", () => {
    const meta = { "io.modelcontextprotocol/serverInfo": {}, "io.modelcontextprotocol/other": 1, "a/b": 2 };
    expect(canonicalResult(MODERN, "tools/call", { content: [], _meta: meta })).toEqual({
      resultType: "complete",
      content: [],
      _meta: { "io.modelcontextprotocol/other": 1, "a/b": 2 },
    });
    const asked = { resultType: "input_required", requestState: "s" };
    expect(canonicalResult(MODERN, "resources/read", asked)).toEqual(asked);
    expect(Object.keys(meta)).toHaveLength(3);
  });

  test("say how long they stay valid if callers expect it", () => {
    expect(canonicalResult(MODERN, "resources/read", { contents: [] })).toMatchObject({
      ttlMs: 0,
      cacheScope: "private",
    });
    const fresh = { resultType: "complete", contents: [], ttlMs: 5, cacheScope: "public" };
    expect(canonicalResult(MODERN, "resources/read", fresh)).toEqual(fresh);
    expect(canonicalResult(MODERN, "resources/read", { ...fresh, ttlMs: -5 })).toMatchObject({ ttlMs: 0 });
  });
});

test("an old result of a tool gets the content that every caller understands", () => {
  expect(canonicalResult(LEGACY, "tools/call", { toolResult: "done" })).toEqual({
    resultType: "complete",
    toolResult: "done",
    content: [{ type: "text", text: "done" }],
  });
});

test.each([
  [{ toolResult: "failed", isError: true }, "failed"],
  [{ toolResult: { isError: true, content: [{ type: "text", text: "failed" }] } }, "failed"],
  [{ toolResult: { isError: true, why: "disk" } }, JSON.stringify({ isError: true, why: "disk" }, undefined, 2)],
])("an old result that is an error stays one, wherever it says so: %j", (result, text) => {
  expect(canonicalResult(LEGACY, "tools/call", result)).toMatchObject({
    isError: true,
    content: [{ type: "text", text }],
  });
});
