import { afterEach, expect, test, vi } from "vitest";
import { storeUnavailable } from "../store/engine/store-failure.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import { SILENT } from "../text/logger.ts";
import { AuditQueue } from "./audit-queue.ts";
import { incidentEntry } from "./audit-text.ts";

const entry = (target: string): AuditEntry =>
  incidentEntry({
    tenant: "default",
    keyId: null,
    at: 1,
    method: "tools/call",
    target,
    outcome: "ok",
    errorCode: null,
  });

const targetOf = ({ text }: AuditEntry) => (JSON.parse(text) as { target: string }).target;

afterEach(() => vi.useRealTimers());

test("nothing is tried again after the end, also when a write was under way then", async () => {
  vi.useFakeTimers();
  let fail = () => {};
  const audit = {
    append: () =>
      new Promise<never>((_, reject) => {
        fail = () => reject(storeUnavailable("the database", new Error("it said nothing")));
      }),
    wasAppended: async () => false,
  };
  const queue = new AuditQueue({ audit, logger: SILENT, collectMs: 0 });
  queue.add("default", entry("one"));
  const closed = queue.close(1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  await closed;
  fail();
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("a database that refuses every record is tried again after a while, and the number of dropped records is kept", async () => {
  vi.useFakeTimers();
  const written: Record<string, unknown>[] = [];
  let tries = 0;
  let isRefusing = true;
  const audit = {
    async append(_tenant: string, entries: readonly AuditEntry[]) {
      tries++;
      if (isRefusing) throw new Error("permission denied");
      written.push(...entries.map(({ text }) => JSON.parse(text) as Record<string, unknown>));
      return { seq: written.length, hash: "" };
    },
    wasAppended: async () => false,
  };
  const queue = new AuditQueue({ audit, logger: SILENT, collectMs: 0 });
  for (const target of ["one", "two", "three"]) queue.add("default", entry(target));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries).toBeLessThan(30);
  expect(queue.failure).toBeDefined();
  isRefusing = false;
  await queue.close(60_000);
  expect(written).toMatchObject([{ outcome: "dropped", count: 3 }]);
});

test("records that come while the outcome of a write is not known are written after it, and none twice", async () => {
  const written: string[] = [];
  let onFirst = () => {};
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  const audit = {
    /** The connection is lost after the first commit. */
    async append(_tenant: string, entries: readonly AuditEntry[]) {
      written.push(...entries.map(targetOf));
      if (written.length > 1) return { seq: written.length, hash: "" };
      onFirst();
      throw storeUnavailable("the database", new Error("the connection was lost"));
    },
    wasAppended: async (_tenant: string, of: AuditEntry) => written.includes(targetOf(of)),
  };
  const queue = new AuditQueue({ audit, logger: SILENT, collectMs: 0 });
  queue.add("default", entry("one"));
  await first;
  queue.add("default", entry("two"));
  queue.add("default", entry("three"));
  await queue.close(60_000);
  expect(written).toEqual(["one", "two", "three"]);
});
