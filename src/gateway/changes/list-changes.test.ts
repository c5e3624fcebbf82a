import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ListChanges } from "./listening.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a change that several connections report at the same time is passed on once for each list (X2)", () => {
  const told: string[] = [];
  const changes = new ListChanges(({ method }) => told.push(method));
  changes.add(["tools"]);
  changes.add([]);
  vi.advanceTimersByTime(20);
  changes.add(["tools", "prompts"]);
  vi.advanceTimersByTime(1000);
  expect(told).toEqual(["notifications/tools/list_changed", "notifications/prompts/list_changed"]);
  changes.add(["tools"]);
  vi.advanceTimersByTime(1000);
  expect(told).toHaveLength(3);
  changes.add(["tools"]);
  changes.close();
  vi.advanceTimersByTime(1000);
  expect([told.length, vi.getTimerCount()]).toEqual([3, 0]);
});
