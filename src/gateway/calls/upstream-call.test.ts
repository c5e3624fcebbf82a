import { expect, test } from "vitest";
import { paramsFor, type UpstreamCall } from "./upstream-call.ts";
import type { UpstreamLease } from "./upstream-leases.ts";

const callerSeen = (tenant: string, id: string, isInProcess = true) => {
  const params = { name: "order", _meta: { "dev.nexus/caller": "forged", other: 1 } };
  const exchange = { principal: { tenant, id }, caller: { era: "modern" } };
  const call = { server: "shop", method: "tools/call", params, exchange } as unknown as UpstreamCall;
  return paramsFor(call, { client: { isInProcess } } as unknown as UpstreamLease)["_meta"];
};

test("a server in this process gets the caller's name, which the caller cannot choose; other servers do not", () => {
  expect(callerSeen("default", "anybody")).toEqual({ "dev.nexus/caller": "default/anybody", other: 1 });
  expect(callerSeen("default", "anybody", false)).toEqual({ other: 1 });
});

test("two callers of different tenants never have the same name", () => {
  expect(callerSeen("a", "b/c")).not.toEqual(callerSeen("a/b", "c"));
});
