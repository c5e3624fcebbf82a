import { describe, expect, test } from "vitest";
import type { Params, Request } from "../../protocol/json-rpc.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import { paramMismatch, targetMismatch, versionMismatch } from "./header-checks.ts";

const request = (method: string, params?: Params): Request => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  ...(params ? { params } : {}),
});

test("the version header must say what the body says", () => {
  expect(versionMismatch({ "mcp-protocol-version": "2026-07-28" }, "2026-07-28")).toBeUndefined();
  expect(versionMismatch({}, "2026-07-28")).toContain("missing");
  expect(versionMismatch({ "mcp-protocol-version": "2025-11-25" }, "2026-07-28")).toContain("2025-11-25");
});

describe("method and name", () => {
  test("agree", () => {
    const call = request("tools/call", { name: "écho " });
    expect(
      targetMismatch({ "mcp-method": "tools/call", "mcp-name": encodeHeaderValue("écho ") }, call),
    ).toBeUndefined();
    expect(targetMismatch({ "mcp-method": "tools/list" }, request("tools/list"))).toBeUndefined();
  });

  test.each([
    [{}, "missing"],
    [{ "mcp-method": "tools/list", "mcp-name": "echo" }, "tools/list"],
    [{ "mcp-method": "tools/call" }, "Mcp-Name is missing"],
    [{ "mcp-method": "tools/call", "mcp-name": "Echo" }, "Echo"],
    [{ "mcp-method": "tools/call", "mcp-name": "=?base64?#?=" }, "Base64"],
  ])("%j does not", (headers, reason) => {
    expect(targetMismatch(headers, request("tools/call", { name: "echo" }))).toContain(reason);
  });

  test("a name that is an object does not agree with any header", () => {
    const call = request("tools/call", { name: { toString: 1 } });
    expect(targetMismatch({ "mcp-method": "tools/call", "mcp-name": "echo" }, call)).toContain("does not match");
  });

  test("a body without a name is not made valid by a header", () => {
    expect(targetMismatch({ "mcp-method": "tools/call", "mcp-name": "echo" }, request("tools/call"))).toContain("none");
    expect(targetMismatch({ "mcp-method": "tools/call" }, request("tools/call"))).toBeUndefined();
  });
});

test("parameters: text, integers as numbers, booleans; none for null", () => {
  const wanted = [
    { header: "Mcp-Param-Region", path: ["where", "region"], type: "string" },
    { header: "Mcp-Param-Count", path: ["count"], type: "integer" },
    { header: "Mcp-Param-Dry", path: ["dry"], type: "boolean" },
  ] as const;
  const args = { where: { region: "eu" }, count: 3, dry: true };
  const good = { "mcp-param-region": "eu", "mcp-param-count": "3.0", "mcp-param-dry": "true" };
  expect(paramMismatch(good, wanted, args)).toBeUndefined();
  expect(paramMismatch({}, wanted, { where: { region: null } })).toBeUndefined();
  expect(paramMismatch({ ...good, "mcp-param-region": "us" }, wanted, args)).toContain("Mcp-Param-Region");
  expect(paramMismatch({ ...good, "mcp-param-count": "" }, wanted, args)).toContain("Mcp-Param-Count");
  expect(paramMismatch({ "mcp-param-region": "eu", "mcp-param-count": "3" }, wanted, args)).toContain("Mcp-Param-Dry");
  expect(paramMismatch(good, wanted, { ...args, dry: undefined })).toContain("Mcp-Param-Dry");
});

test("parameters named like members of every object are absent unless they were given", () => {
  const wanted = [{ header: "Mcp-Param-C", path: ["constructor"], type: "string" }] as const;
  expect(paramMismatch({}, wanted, {})).toBeUndefined();
  expect(paramMismatch({ "mcp-param-c": "x" }, wanted, { constructor: "x" })).toBeUndefined();
});
