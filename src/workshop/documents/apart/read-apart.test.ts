import { expect, test } from "vitest";
import { TOOL_FILE_LIMITS } from "./read-apart.ts";

test("a person's own file has the time of the processor that a publication has of the clock, also on a busy machine", () => {
  const { own, publication } = TOOL_FILE_LIMITS;
  expect(own.alone.cpuMs).toBe(publication.waitMs);
  expect(own.waitMs).toBeGreaterThan(5 * own.alone.cpuMs);
  expect(own.heapMb).toBe(publication.heapMb);
});
