import fc from "fast-check";
import { NexusError } from "../../src/index.ts";
import { runPlan, type RunReport } from "./fault-run.ts";
import { plans, type Plan } from "./plan.ts";

export interface FaultRunsOptions {
  /** Run number n has the seed `seed + n`, so that it can be made again alone. */
  seed: number;
  runs: number;
  /** Runs mostly wait, so that many go side by side. */
  atOnce?: number;
  onReport?: (report: RunReport, done: number) => void;
}

const SHRINK_MS = 60_000;

/** Makes many runs; throws at the first that is wrong, with the smallest plan that is wrong in some way too. */
export async function makeFaultRuns({ seed, runs, atOnce = 24, onReport }: FaultRunsOptions): Promise<void> {
  let next = 0;
  let done = 0;
  let failure: Error | undefined;
  const lane = async () => {
    while (next < runs && !failure) {
      try {
        const report = await makeRun(seed + next++);
        onReport?.(report, ++done);
      } catch (error) {
        failure ??= error as Error;
      }
    }
  };
  const strays: unknown[] = [];
  const onStray = (reason: unknown) => strays.push(reason);
  process.on("unhandledRejection", onStray);
  try {
    await Promise.all(Array.from({ length: atOnce }, lane));
    // A rejection that nobody handles is told after the microtasks of its turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", onStray);
  }
  if (failure) throw failure;
  if (strays.length > 0) throw new Error("a rejection was handled by nobody", { cause: strays[0] });
}

async function makeRun(seed: number): Promise<RunReport> {
  let made: RunReport | undefined;
  const property = fc.asyncProperty(plans, async (plan) => {
    made = await runPlan(plan);
  });
  const details = await fc.check(property, {
    seed: scattered(seed),
    numRuns: 1,
    interruptAfterTimeLimit: SHRINK_MS,
  });
  if (!details.failed && made) return made;
  throw new Error(failureText(seed, details), { cause: details.errorInstance });
}

/** Seeds that follow each other would give plans that look alike. */
function scattered(seed: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}

function failureText(seed: number, { counterexample, errorInstance, numShrinks }: fc.RunDetails<[Plan]>): string {
  return [
    `The run with seed ${seed} is wrong. Make it again with: npm run faults -- --seed ${seed} --runs 1`,
    `The smallest plan found, after ${numShrinks} steps, can be made with --plan '…' too:`,
    JSON.stringify(counterexample?.[0]),
    ...causes(errorInstance),
  ].join("\n");
}

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [JSON.stringify(error)];
  const code = error instanceof NexusError ? ` ${error.code}` : "";
  return [`${error.name}${code}: ${error.message}`, ...causes(error.cause)];
}
