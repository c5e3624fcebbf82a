import { expect, test } from "vitest";
import { PUBLICATION_LIMITS, TOOL_FILE_LIMITS, Watch } from "./read-apart.ts";

const NOTHING = { ms: 0, cpuMs: 0, bytes: 0 };
const TIME = "takes longer to be read than is allowed";

test("a person's own file is read on a busy machine as well: the time of the processor counts, and of the clock only a minute", () => {
  let used = NOTHING;
  const watch = new Watch(TOOL_FILE_LIMITS, () => used);
  used = { ms: 50_000, cpuMs: 9_000, bytes: 400_000_000 };
  expect(watch.exceeded()).toBeUndefined();
  used = { ...NOTHING, cpuMs: 10_001 };
  expect(watch.exceeded()).toBe(TIME);
  used = { ...NOTHING, ms: 60_001 };
  expect(watch.exceeded()).toBe(TIME);
  used = { ...NOTHING, bytes: 600_000_000 };
  expect(watch.exceeded()).toContain("memory");
});

test("a publication has ten seconds of the clock, because others use the process as well", () => {
  let used = NOTHING;
  const watch = new Watch(PUBLICATION_LIMITS, () => used);
  used = { ms: 9_999, cpuMs: 30_000, bytes: 600_000_000 };
  expect(watch.exceeded()).toBeUndefined();
  used = { ...NOTHING, ms: 10_001 };
  expect(watch.exceeded()).toBe(TIME);
});
