import { expect, test } from "vitest";
import { isFull } from "../fixtures/depth.ts";
import { makeFaultRuns } from "./fault-runs.ts";

const SEED = 20_261_115;
const RUNS = isFull ? 500 : 80;

test(`${RUNS} runs through a bad network (seed ${SEED}) end in a right answer or a right error, and none hangs (N3)`, async () => {
  let done = 0;
  await makeFaultRuns({ seed: SEED, runs: RUNS, onReport: () => done++ });
  expect(done).toBe(RUNS);
}, 300_000);
