import { expect, test } from "vitest";
import { cellsOf } from "../../output/text-width.ts";
import { endedLines, runningLine, shownArguments } from "./tool-line.ts";

const endedLine = (...args: Parameters<typeof endedLines>) => endedLines(...args).join("\n");
const step = { server: "files", tool: "read", arguments: { path: "a.txt" }, outcome: "ok" as const, durationMs: 85 };
const ended = { type: "tool_end" as const, id: "1", step, bytes: 1200, isShortened: false };

test("a call is one line with its server, tool, arguments, outcome, time and size", () => {
  expect(endedLine(ended, 80)).toBe("files.read path=a.txt: ok, 85 ms, 1.2 kB");
  expect(endedLine({ ...ended, isShortened: true }, undefined)).toContain("shortened for the model");
});

test("a failed call says why, and a denied one has no time", () => {
  const failed = { ...ended, bytes: 0, step: { ...step, outcome: "error" as const }, error: "no\u001b[2Jsuch file" };
  expect(endedLine(failed, undefined)).toBe("files.read path=a.txt: failed (no\\x1b[2Jsuch file), 85 ms");
  expect(endedLine({ ...ended, bytes: 0, step: { ...step, outcome: "denied" } }, 80)).toBe(
    "files.read path=a.txt: denied",
  );
});

test("a reason that does not fit is a second line: the outcome and the time are always shown", () => {
  const error = `The server answered ${"at length ".repeat(40)}`;
  const failed = { ...ended, bytes: 0, step: { ...step, outcome: "tool_error" as const }, error };
  const [line = "", reason = "", ...others] = endedLines(failed, 60);
  expect(line).toBe("files.read path=a.txt: the tool reported an error, 85 ms");
  expect(reason).toMatch(/^The server answered at length .*…$/);
  expect(others).toEqual([]);
  const longName = { ...failed, step: { ...failed.step, tool: "a_very_long_name_of_a_tool_that_reads" } };
  expect(endedLines(longName, 60)[0]).toMatch(/^files\.a_very_.*…: the tool reported an error, 85 ms$/);
});

test("a reason does not take the place of the name, and a cancelled call needs none", () => {
  const tool = "count_slowly_to_twenty";
  const failed = { ...ended, bytes: 0, step: { ...step, tool, outcome: "error" as const } };
  expect(endedLines({ ...failed, error: "it ended at 3 of 20" }, 60)).toEqual([
    "files.count_slowly_to_twenty path=a.txt: failed, 85 ms",
    "it ended at 3 of 20",
  ]);
  const cancelled = { ...failed, error: "cancelled", step: { ...failed.step, outcome: "cancelled" as const } };
  expect(endedLine(cancelled, 60)).toBe("files.count_slowly_to_twenty path=a.txt: cancelled, 85 ms");
});

test("arguments are cut so that the line fits, also with wide characters", () => {
  const args = { text: "日本語".repeat(50), deep: { a: [1, 2, 3] } };
  expect(cellsOf(endedLine({ ...ended, step: { ...step, arguments: args } }, 60))).toBeLessThan(60);
  expect(shownArguments({ text: "two words", deep: { a: 1 }, n: 3 })).toBe('text="two words" deep={"a":1} n=3');
});

test("a running call shows its progress and its time", () => {
  const call = { server: "s", tool: "t", arguments: {}, startedAt: 0 };
  expect(runningLine(call, 2400, 80)).toBe("s.t: 2.4 s");
  const progress = { type: "tool_progress" as const, id: "1", progress: 2, total: 5, message: "reading" };
  expect(runningLine({ ...call, progress }, 2400, 80)).toBe("s.t: 40% reading, 2.4 s");
});
