import { parseArgs } from "node:util";
import { runPlan } from "./fault-run.ts";
import { makeFaultRuns } from "./fault-runs.ts";
import type { Plan } from "./plan.ts";
import { Tally } from "./tally.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string" }, plan: { type: "string" } },
});
if (values.plan === undefined) await makeMany();
else console.log(await runPlan(JSON.parse(values.plan) as Plan));

async function makeMany(): Promise<void> {
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const runs = Number(values.runs ?? 10_000);
  const tally = new Tally();
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0);

  console.log(`${runs} runs from seed ${seed}`);
  try {
    await makeFaultRuns({
      seed,
      runs,
      onReport(report, done) {
        tally.add(report);
        if (done % 500 === 0) console.log(`${done} runs after ${seconds()} s`);
      },
    });
    console.log(`All ended in a right answer or a right error, after ${seconds()} s.`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
  console.log(`Steps, by what struck in their run:\n${tally.toString()}`);
}
