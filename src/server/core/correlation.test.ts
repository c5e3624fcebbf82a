import { describe, expect, test } from "vitest";
import { CORRELATION_META } from "../../protocol/meta.ts";
import { childTrace, correlationOf } from "./request-meta.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

describe("the correlation id of a request", () => {
  test("is the X-Request-Id, and the trace keeps its own id", () => {
    const found = correlationOf(undefined, { "x-request-id": "order-7", traceparent: TRACEPARENT });
    expect(found).toEqual({ correlationId: "order-7", traceId: TRACE_ID, trace: { traceparent: TRACEPARENT } });
  });

  test("is what a gateway in front says in _meta", () => {
    expect(correlationOf({ [CORRELATION_META]: "order-7" }, undefined)).toMatchObject({ correlationId: "order-7" });
  });

  test("is the trace id of _meta, which comes before that of the header", () => {
    const other = TRACEPARENT.replace("0af7", "ffff");
    const found = correlationOf(
      { traceparent: TRACEPARENT, tracestate: "a=b", baggage: "c=d" },
      { traceparent: other },
    );
    const trace = { traceparent: TRACEPARENT, tracestate: "a=b", baggage: "c=d" };
    expect(found).toEqual({ correlationId: TRACE_ID, traceId: TRACE_ID, trace });
  });

  test("is the trace id of the header, without its baggage", () => {
    const found = correlationOf({}, { traceparent: TRACEPARENT, tracestate: "a=b", baggage: "user=me" });
    expect(found).toMatchObject({ correlationId: TRACE_ID, trace: { traceparent: TRACEPARENT, tracestate: "a=b" } });
    expect(found.trace).not.toHaveProperty("baggage");
  });

  test.each(["a=b\r\nx-user: root", "a=\u0000", "a=\u20ac", `a=${"b".repeat(2000)}`, ""])(
    "leaves out the tracestate %j, which cannot be sent as a header",
    (tracestate) => {
      expect(correlationOf({ traceparent: TRACEPARENT, tracestate }, undefined).trace).toEqual({
        traceparent: TRACEPARENT,
      });
    },
  );

  test("is made where the client says nothing, another one each time, and is the trace id too", () => {
    const made = Array.from({ length: 2000 }, () => correlationOf(undefined, {}));
    expect(new Set(made.map(({ correlationId }) => correlationId)).size).toBe(2000);
    for (const { correlationId, traceId, trace } of made) {
      expect(correlationId).toMatch(/^[0-9a-f]{32}$/);
      expect([traceId, trace]).toEqual([correlationId, undefined]);
    }
  });

  test.each(["", "a b", 'a"b', "a\nb", "é", "x".repeat(129), "{}"])(
    "is not %j, which could not be written into a log as it is",
    (given) => {
      expect(correlationOf({ [CORRELATION_META]: given }, { "x-request-id": given }).correlationId).toMatch(
        /^[0-9a-f]{32}$/,
      );
    },
  );

  test.each([
    "00-1-2-01",
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE_ID}-${"0".repeat(16)}-01`,
    `ff-${TRACE_ID}-b7ad6b7169203331-01`,
    `${TRACEPARENT}-more`,
    TRACEPARENT.toUpperCase(),
    `01-${TRACE_ID}-b7ad6b7169203331-01more`,
  ])("does not come from the invalid traceparent %s", (traceparent) => {
    expect(correlationOf({ traceparent }, { traceparent })).toMatchObject({ trace: undefined });
  });
});

describe("the trace context for servers", () => {
  test("is a child of the caller's: the same trace and flags, another span", () => {
    const trace = { traceparent: `01-${TRACE_ID}-b7ad6b7169203331-00-later`, tracestate: "a=b" };
    const child = childTrace(TRACE_ID, trace);
    expect(child.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[0-9a-f]{16}-00$`));
    expect(child.tracestate).toBe("a=b");
  });

  test("is made where no trace came", () => {
    expect(childTrace(TRACE_ID, undefined).traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
  });
});
