import fc from "fast-check";
import { expect, test } from "vitest";
import { LineReader } from "./line-reader.ts";

function read(chunks: readonly Buffer[], maxBytes = 1_000): unknown[] {
  const seen: unknown[] = [];
  const reader = new LineReader(maxBytes, {
    line: (text) => seen.push(text),
    tooLong: (bytes, answered) => seen.push({ bytes, answered }),
  });
  for (const chunk of chunks) reader.push(chunk);
  return seen;
}

test("lines are the same no matter how the bytes are cut (N2)", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 40 }).filter((line) => line !== "" && !line.includes("\n"))),
      fc.array(fc.nat(20), { maxLength: 50 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const chunks: Buffer[] = [];
        let start = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(start, start + cut));
          start += cut;
        }
        chunks.push(bytes.subarray(start));
        expect(read(chunks)).toEqual(lines);
      },
    ),
  );
});

test("a line over the limit is skipped, and the lines around it are read (R8)", () => {
  const long = `{"jsonrpc":"2.0","id":7,"result":"${"x".repeat(100)}"}`;
  const bytes = Buffer.from(`before\n${long}\nafter\n`);
  const byBytes = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  const expected = ["before", { bytes: long.length, answered: { id: 7 } }, "after"];
  expect(read([bytes], 50)).toEqual(expected);
  expect(read(byBytes, 50)).toEqual(expected);
});
