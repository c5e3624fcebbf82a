import { afterEach, expect, test, vi } from "vitest";
import { DEFAULT_AUDIT } from "../config/gateway-settings.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { AuditRecord } from "../gateway/operation/audit.ts";
import { ANYBODY, type Principal } from "../server/core/principal.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { Store } from "../store/store.ts";
import { SILENT } from "../text/logger.ts";
import { StoredAudit } from "./stored-audit.ts";

afterEach(() => {
  vi.useRealTimers();
});

const ADA: Principal = { id: "3fA9cK2mQx7Ytz01", tenant: "shop" };

function recordOf(principal: Principal, method: string, errorCode: AuditRecord["errorCode"]): AuditRecord {
  return {
    at: 1,
    correlationId: "c",
    traceId: "t",
    principal,
    client: undefined,
    era: "modern",
    revision: "2026-07-28",
    server: "box",
    method,
    target: "box__look",
    definitionHash: undefined,
    decision: "denied",
    outcome: "refused",
    errorCode,
    durationMs: 1,
    requestBytes: 1,
    responseBytes: undefined,
  };
}

test("of requests over a limit the first of each key and method is recorded, and the others as one record with their number", async () => {
  const written: Record<string, unknown>[] = [];
  const append = async (_tenant: string, entries: readonly AuditEntry[]) =>
    void written.push(...entries.map(({ text }) => JSON.parse(text) as Record<string, unknown>));
  const store = { audit: { append }, masterKey: { derive: () => Buffer.alloc(32) } } as unknown as Store;
  const audit = new StoredAudit({ store, settings: { ...DEFAULT_AUDIT, onFailure: "closed" }, logger: SILENT });
  const record = (principal: Principal, method: string, code: AuditRecord["errorCode"] = "RATE_LIMITED") =>
    audit.record(recordOf(principal, method, code), { params: {}, result: undefined });
  for (let count = 0; count < 50; count++) await record(ADA, "tools/call");
  for (let count = 0; count < 3; count++) await record(ADA, `made-up/${count}`);
  await record(ANYBODY, "tools/call");
  for (let count = 0; count < 2; count++) await record(ADA, "tools/call", "NAME_UNKNOWN");
  await audit[Symbol.asyncDispose]();
  expect(written.map((each) => [each["tenant"], each["method"], each["target"], each["count"]])).toEqual([
    ["shop", "tools/call", "box__look", undefined],
    ["shop", "made-up/0", "box__look", undefined],
    ["default", "tools/call", "box__look", undefined],
    ["shop", "tools/call", "box__look", undefined],
    ["shop", "tools/call", "box__look", undefined],
    ["shop", "tools/call", null, 49],
    ["shop", "other", null, 2],
  ]);
  expect(written.at(-1)).toMatchObject({
    keyId: ADA.id,
    decision: "denied",
    outcome: "refused",
    errorCode: "RATE_LIMITED",
  });
});

test("a damaged audit of one tenant does not keep old records of others, and nothing is removed after the end", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pruned: string[] = [];
  let end: (removed: number) => void = () => {};
  const ended = new Promise<number>((resolve) => (end = resolve));
  const prune = async (tenant: string) => {
    pruned.push(tenant);
    if (tenant === "a") throw new NexusError("DATA_DAMAGED", "Records were changed");
    return ended;
  };
  const store = {
    audit: { tenants: async () => ["a", "b"], prune },
    masterKey: { derive: () => Buffer.alloc(32) },
  } as unknown as Store;
  const audit = new StoredAudit({ store, settings: DEFAULT_AUDIT, logger: SILENT });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(pruned).toEqual(["a", "b"]);
  await audit[Symbol.asyncDispose]();
  end(1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(pruned).toEqual(["a", "b"]);
});
