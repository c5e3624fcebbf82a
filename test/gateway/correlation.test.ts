import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Gateway, type AuditRecord } from "../../src/gateway/index.ts";
import { Host } from "../../src/index.ts";
import { META } from "../../src/protocol/meta.ts";
import type { Logger } from "../../src/text/logger.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { LegacyWire } from "./legacy/legacy-wire.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const CHILD = expect.stringMatching(new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`)) as string;
const CORRELATION = "dev.nexus/correlationId";
const ECHO = { name: "up__echo", arguments: { text: "x" } };

/** What the server got with the last call of a tool. */
function received({ transcript }: HttpFixture) {
  const calls = transcript.entries.filter(({ direction, message }) => {
    return direction === "in" && (message as { method?: string } | undefined)?.method === "tools/call";
  });
  const { headers = {}, message } = calls.at(-1) ?? {};
  const { params } = message as { params: { _meta: Record<string, unknown> } };
  return { headers, meta: params._meta };
}

describe.each(["2026-07-28", "2025-06-18"] as const)("one id is followed to a server of %s (X9)", (revision) => {
  let server: HttpFixture;
  let gateway: Gateway;
  const records: AuditRecord[] = [];
  const logged: Record<string, unknown>[] = [];
  const note = (_message: string, data: Record<string, unknown> = {}) => void logged.push(data);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };

  beforeEach(async () => {
    records.length = logged.length = 0;
    server = await startHttpFixture({ revision });
    const host = await Host.open({ servers: { up: { url: server.url } } });
    gateway = await Gateway.open({ host, port: 0, logger, audit: (record) => void records.push(record) });
    await gateway.ready();
  });
  afterEach(async () => {
    await gateway.close();
    await server.close();
  });

  test("from the traceparent of a modern client to the record, the server and the result", async () => {
    const client = { name: "tester", version: "3" };
    const headers = { traceparent: TRACEPARENT, tracestate: "a=b" };
    const { json } = await send(
      gateway.url,
      modern("tools/call", ECHO, { headers, meta: { [META.clientInfo]: { ...client, title: "T" } } }),
    );
    expect(json.result._meta).toMatchObject({ [CORRELATION]: TRACE_ID });
    const at = received(server);
    expect(at.headers).toMatchObject({ "x-request-id": TRACE_ID, traceparent: CHILD, tracestate: "a=b" });
    expect(at.meta).toMatchObject({
      [CORRELATION]: TRACE_ID,
      traceparent: at.headers["traceparent"],
      tracestate: "a=b",
    });
    expect(records.at(-1)).toMatchObject({
      correlationId: TRACE_ID,
      traceId: TRACE_ID,
      client,
      revision: "2026-07-28",
    });
  });

  test("from the X-Request-Id of a session", async () => {
    const wire = await LegacyWire.open(gateway.url, "2025-06-18");
    const call = { id: 5, method: "tools/call", params: ECHO };
    const response = await wire.post(call, { "x-request-id": "order-7", traceparent: TRACEPARENT });
    // A slow answer comes on a stream.
    expect(await response.text()).toContain(`"_meta":{"${CORRELATION}":"order-7"}`);
    const at = received(server);
    expect(at.headers).toMatchObject({ "x-request-id": "order-7", traceparent: CHILD });
    expect(at.meta).toMatchObject({ [CORRELATION]: "order-7" });
    expect(records.at(-1)).toMatchObject({
      correlationId: "order-7",
      traceId: TRACE_ID,
      client: { name: "wire", version: "1" },
      revision: "2025-06-18",
    });
  });

  test("made where the client says nothing, another one for each call", async () => {
    const ids = new Set<unknown>();
    for (let call = 0; call < 3; call++) {
      const { json } = await send(gateway.url, modern("tools/call", ECHO));
      const id = json.result._meta[CORRELATION] as string;
      ids.add(id);
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      const traceparent = expect.stringMatching(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`)) as string;
      expect(received(server).headers).toMatchObject({ "x-request-id": id, traceparent });
      expect(records.at(-1)).toMatchObject({ correlationId: id, traceId: id });
    }
    expect(ids.size).toBe(3);
  });

  test("lists do not carry it, because they may be cached, but their records do", async () => {
    const { json } = await send(gateway.url, modern("tools/list", {}, { headers: { "x-request-id": "list-1" } }));
    expect(json.result._meta).not.toHaveProperty([CORRELATION]);
    expect(records.at(-1)).toMatchObject({ method: "tools/list", correlationId: "list-1" });
  });

  test("a failure that callers read in fixed words is logged under the id of the call", async () => {
    await server.close();
    const headers = { "x-request-id": "order-8" };
    const { json } = await send(gateway.url, modern("tools/call", ECHO, { headers }));
    expect(json.error?.data).toMatchObject({ server: "up", correlationId: "order-8" });
    expect(logged).toContainEqual(expect.objectContaining({ server: "up", correlationId: "order-8" }));
    expect(records.at(-1)).toMatchObject({ correlationId: "order-8", outcome: "error" });
  });
});
