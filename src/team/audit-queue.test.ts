import { expect, test } from "vitest";
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
