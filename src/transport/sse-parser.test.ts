import fc from "fast-check";
import { expect, test } from "vitest";
import { SseParser, type SseEvent } from "./sse-parser.ts";

function parse(chunks: readonly Buffer[], maxBytes = 10_000) {
  const seen = { events: [] as SseEvent[], retries: [] as number[], tooLarge: false };
  const parser = new SseParser(maxBytes, {
    event: (event) => seen.events.push(event),
    retry: (ms) => seen.retries.push(ms),
    tooLarge: () => (seen.tooLarge = true),
  });
  for (const chunk of chunks) parser.push(chunk);
  return { ...seen, lastEventId: parser.lastEventId };
}

test("fields, comments, several data lines and ids are read as the standard says", () => {
  const stream = `\uFEFF: hello\nretry: 250\nid: 1\nevent: message\ndata: {"a":\ndata:  1}\n\nid: 2\n\ndata:x\ndata\n\ndata: unfinished`;
  expect(parse([Buffer.from(stream)])).toEqual({
    events: [
      { type: "message", data: '{"a":\n 1}' },
      { type: "", data: "x\n" },
    ],
    retries: [250],
    lastEventId: "2",
    tooLarge: false,
  });
});

test("events are the same with any line breaks and any cuts of the bytes (G7)", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 30 }).filter((value) => !/[\r\n]/.test(value));
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 8 }),
      fc.constantFrom("\n", "\r", "\r\n"),
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 }),
      (values, end, cuts) => {
        const bytes = Buffer.from(values.map((value) => `: c${end}data: ${value}${end}${end}`).join(""));
        const chunks: Buffer[] = [];
        let start = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(start, start + cut));
          start += cut;
        }
        chunks.push(bytes.subarray(start));
        expect(parse(chunks).events.map(({ data }) => data)).toEqual(values);
      },
    ),
  );
});

test("an event over the limit stops reading; endless comments do not", () => {
  const comments = Array.from({ length: 50 }, () => Buffer.from(`: ${"x".repeat(90)}\n`));
  expect(parse(comments, 1_000).tooLarge).toBe(false);
  const data = Array.from({ length: 50 }, () => Buffer.from(`data: ${"x".repeat(90)}\n`));
  expect(parse(data, 1_000)).toMatchObject({ events: [], tooLarge: true });
});
