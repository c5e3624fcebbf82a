import { expect, test } from "vitest";
import { ANYBODY } from "../../server/core/principal.ts";
import { SILENT } from "../../text/logger.ts";
import { AccessLog } from "./records.ts";

test("a caller cannot fill the log with the name of a method or a tool", () => {
  const lines: string[] = [];
  const info = (message: string, data?: Record<string, unknown>) => void lines.push(message + JSON.stringify(data));
  const log = new AccessLog({ ...SILENT, info });
  const call = {
    at: 0,
    correlationId: "a",
    traceId: "a",
    principal: ANYBODY,
    client: undefined,
    era: "legacy",
    revision: "",
    definitionHash: undefined,
    decision: "denied",
    outcome: "refused",
    errorCode: undefined,
    durationMs: 1,
    requestBytes: undefined,
    responseBytes: undefined,
  } as const;
  log.write({ ...call, server: "", method: "x".repeat(1_000_000), target: undefined });
  log.write({ ...call, server: "box", method: "tools/call", target: "y".repeat(1_000_000) });
  expect(lines.map((line) => line.length < 1000)).toEqual([true, true]);
});
