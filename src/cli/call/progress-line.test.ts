import { expect, test } from "vitest";
import { progressText } from "./progress-line.ts";

const half = { progress: 5, total: 10, message: "reading files" };

test("a wide terminal has a bar, the percentage, the message and the time", () => {
  expect(progressText(half, { elapsedMs: 1_250, columns: 80 })).toBe(
    "[##########----------]  50%  reading files  1.3 s",
  );
});

test("a narrow terminal drops the bar first, then the end of the message", () => {
  expect(progressText(half, { elapsedMs: 1_250, columns: 30 })).toBe(" 50%  reading files  1.3 s");
  expect(progressText(half, { elapsedMs: 1_250, columns: 22 })).toBe(" 50%  reading…  1.3 s");
  expect(progressText(half, { elapsedMs: 1_250, columns: 14 })).toBe(" 50%  1.3 s");
});

test("without a total the line counts, and without a report it waits", () => {
  expect(progressText({ progress: 7 }, { elapsedMs: 61_000, columns: 80 })).toBe("7  1 min 1 s");
  expect(progressText(undefined, { elapsedMs: 2_000, columns: 80 })).toBe("waiting  2.0 s");
});

test("a server's message cannot control the terminal, and progress beyond the total counts as complete", () => {
  const wild = { progress: 30, total: 10, message: "a\u001b[2Jb\nc" };
  expect(progressText(wild, { elapsedMs: 0, columns: 80 })).toBe(
    "[####################] 100%  a\\x1b[2Jb\\x0ac  0.0 s",
  );
});
