import { expect, test } from "vitest";
import { ANYBODY } from "../../server/core/principal.ts";
import { SILENT } from "../../text/logger.ts";
import { EVERYTHING } from "../names/view.ts";
import type { Views } from "../requests/views.ts";
import { FailureLog } from "../operation/failure-log.ts";
import { DEFAULT_LIMITS } from "../operation/limits.ts";
import { Metrics } from "../operation/metrics.ts";
import { CallGate } from "../operation/call-gate.ts";
import { GuardedCore } from "./guarded-core.ts";

test("a subscription that cannot be recorded where it has to be is ended, and its caller gets the error", async () => {
  let isClosed = false;
  const listening = { accepted: {}, update: async () => {}, close: async () => void (isClosed = true) };
  const core = new GuardedCore(EVERYTHING, {
    views: { listen: async () => listening, resolve: () => undefined } as unknown as Views,
    gate: new CallGate(DEFAULT_LIMITS),
    metrics: new Metrics("default"),
    audit: { record: () => Promise.reject(new Error("the disk is full")), isClosed: true, requireReady() {} },
    logger: SILENT,
    failures: new FailureLog(SILENT),
  });
  const caller = { era: "modern", version: "2026-07-28", client: undefined } as const;
  const asked = { params: {}, correlationId: "c", traceId: "t", caller };
  const request = { principal: ANYBODY, asked, owner: "o", capabilities: {}, interests: {}, onChange() {} };
  await expect(core.listen(request)).rejects.toThrow("the disk is full");
  expect(isClosed).toBe(true);
});
