import { expect, test } from "vitest";
import { parseByteSize, sizeText } from "./byte-size.ts";

test.each([
  ["512MB", 512_000_000],
  ["1.5 GB", 1_500_000_000],
  ["64kb", 64_000],
  ["100", 100],
  [2048, 2048],
])("the size %j is %d bytes", (text, bytes) => expect(parseByteSize(text)).toBe(bytes));

test.each(["", "MB", "-1MB", "512M", "many", true, null])("%j is not a size", (text) =>
  expect(parseByteSize(text)).toBeUndefined(),
);

test("sizes are written with one decimal, and read again", () => {
  expect([sizeText(640), sizeText(1_240), sizeText(5_000_000)]).toEqual(["640 B", "1.2 kB", "5.0 MB"]);
  expect(parseByteSize(sizeText(5_000_000))).toBe(5_000_000);
});
