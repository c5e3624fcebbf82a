import { expect, test } from "vitest";
import { abortSignalOf, Cancellation } from "./cancellation.ts";

test("a cancellation calls each listener once, in order, unless it was removed", () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const removed = () => heard.push("removed");
  const late = () => heard.push("late");
  cancellation.addEventListener("abort", () => heard.push("first"));
  cancellation.addEventListener("abort", removed);
  cancellation.addEventListener("abort", () => cancellation.removeEventListener("abort", late));
  cancellation.addEventListener("abort", late);
  cancellation.removeEventListener("abort", removed);
  cancellation.abort("why");
  cancellation.abort("again");
  cancellation.addEventListener("abort", late);
  expect({ heard, aborted: cancellation.aborted, reason: cancellation.reason }).toEqual({
    heard: ["first"],
    aborted: true,
    reason: "why",
  });
});

test("the AbortSignal of a cancellation fires with the same reason, before or after it is made", () => {
  const cancellation = new Cancellation();
  const before = abortSignalOf(cancellation);
  expect(before.aborted).toBe(false);
  cancellation.abort("why");
  expect([before.reason, abortSignalOf(cancellation).reason]).toEqual(["why", "why"]);
  expect(abortSignalOf(before)).toBe(before);
});
