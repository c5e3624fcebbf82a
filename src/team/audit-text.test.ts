import { expect, test } from "vitest";
import type { AuditRecord } from "../gateway/operation/audit.ts";
import { AuditText } from "./audit-text.ts";

const RECORD: AuditRecord = {
  at: Date.parse("2026-01-02T03:04:05.006Z") + 0.7,
  correlationId: "a".repeat(32),
  traceId: "b".repeat(32),
  principal: { id: "k1", tenant: "shop" },
  client: { name: "app", version: "1" },
  era: "modern",
  revision: "2026-07-28",
  server: "echo",
  method: "tools/call",
  target: "say",
  definitionHash: undefined,
  decision: "allowed",
  outcome: "ok",
  errorCode: undefined,
  durationMs: 1.23456,
  requestBytes: 10,
  responseBytes: undefined,
};

/** In the order in which they are written. */
const WRITTEN = {
  at: "2026-01-02T03:04:05.006Z",
  correlationId: "a".repeat(32),
  traceId: "b".repeat(32),
  tenant: "shop",
  keyId: "k1",
  client: { name: "app", version: "1" },
  revision: "2026-07-28",
  server: "echo",
  method: "tools/call",
  target: "say",
  definitionHash: null,
  decision: "allowed",
  outcome: "ok",
  errorCode: null,
  durationMs: 1.235,
  requestBytes: 10,
  responseBytes: null,
};

const CHANGES: Partial<AuditRecord>[] = [
  {},
  { outcome: "error", errorCode: "TIMEOUT" },
  { client: { name: "app", version: "2" }, revision: "2025-11-25" },
  { target: 'say "it"', definitionHash: "f".repeat(64) },
  { correlationId: 'no "id"', requestBytes: 12, responseBytes: 0 },
  { principal: { id: "k1", tenant: "bank" } },
  {},
];

test("each record has its own facts, also after one of the same key and tool with others", () => {
  const text = new AuditText(Buffer.alloc(32), { arguments: "none", results: "none" });
  for (const changes of CHANGES) {
    const { principal, ...changed } = changes;
    const written = text.entryOf({ ...RECORD, ...changes }, { params: {}, result: undefined });
    expect(written).toEqual({
      at: Math.trunc(RECORD.at),
      text: JSON.stringify({ ...WRITTEN, ...(principal && { tenant: principal.tenant }), ...changed }),
    });
  }
});

test("a size that is not a number, and what is added to a record, leave it JSON without invisible characters", () => {
  const text = new AuditText(Buffer.alloc(32), { arguments: "full", results: "none" });
  const record = { ...RECORD, set: "help", requestBytes: NaN, target: "say\u202e" };
  const written = text.entryOf(record, { params: { arguments: { text: "x\u200b" } }, result: undefined }).text;
  expect(JSON.parse(written)).toEqual({
    ...WRITTEN,
    target: "say\u202e",
    requestBytes: null,
    set: "help",
    arguments: { text: "x\u200b" },
  });
  expect(written).toMatch(/^[\x20-\x7e]*$/);
});

test("with secrets masked, the ids of the request are still in its arguments and its result (R8)", () => {
  const text = new AuditText(Buffer.alloc(32), { arguments: "redacted", results: "redacted" });
  const [correlationId, traceId, other] = [
    "0af7651916cd43dd8448eb211c80319c",
    "4bf92f3577b34da6a3ce929d0e0e4736",
    "9ac7651916cd43dd8448eb211c80319c",
  ];
  const note = `failed (${correlationId}), key ${other}`;
  const params = { arguments: { traceparent: `00-${traceId}-b7ad6b7169203331-01`, note } };
  const result = { resultType: "complete", _meta: { correlationId } };
  const { text: written } = text.entryOf({ ...RECORD, correlationId, traceId }, { params, result });
  expect(JSON.parse(written)).toMatchObject({
    arguments: { ...params.arguments, note: `failed (${correlationId}), key •••` },
    result,
  });
});

test("with secrets masked, a result that names other records still has their ids (R8)", () => {
  const text = new AuditText(Buffer.alloc(32), { arguments: "redacted", results: "redacted" });
  const [id, hash] = [
    "9ac7651916cd43dd8448eb211c80319c",
    "57d0784bcd21339e6d82a6dfc5cc4e2377f04c82f000940fca544d60fb209879",
  ];
  const record = { correlationId: id, traceId: id, definitionHash: hash };
  const calls = JSON.stringify({ calls: [{ ...record, target: "echo", other: id }] }, undefined, 2);
  const result = {
    resultType: "complete",
    contents: [{ text: calls }],
    structuredContent: { ...record, key: hash, toString: null },
  };
  const { text: written } = text.entryOf(RECORD, { params: {}, result });
  expect(JSON.parse(written)).toMatchObject({
    result: {
      contents: [{ text: calls.replace(`"other": "${id}"`, '"other": "•••"') }],
      structuredContent: { ...record, key: "•••" },
    },
  });
  const { text: hidden } = text.entryOf(RECORD, {
    params: { correlationId: "sk-live-0123456789abcdef01" },
    result: {},
  });
  expect(JSON.parse(hidden)).toMatchObject({ arguments: { correlationId: "•••" } });
});
