import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFull } from "../fixtures/depth.ts";
import { CrossingAttempts } from "./crossing-attempts.ts";
import { step, type Operation } from "./crossing-step.ts";
import { TeamWorld } from "./team-world.ts";

/** 100,000 take two minutes: NEXUS_CROSSINGS=100000 npx vitest run test/security/crossings.test.ts */
const TRIED = Number(process.env["NEXUS_CROSSINGS"] ?? (isFull ? 3_000 : 600));
const STEPS = 50;
/** What callers do with things of their own. */
const SUCCEEDING: Operation[] = [
  "page",
  "call",
  "answer",
  "follow task",
  "read",
  "prompt",
  "complete",
  "unknown method",
  "use session",
  "post sse",
  "listen",
  "change",
  "page of the gateway",
];

let world: TeamWorld;
beforeAll(async () => {
  // So short that tenants are closed and opened again between the steps.
  world = await TeamWorld.open({ tenantIdleMs: 15, parkedMs: 100, sessions: 200 });
});
afterAll(() => world[Symbol.asyncDispose]());

test("X8: whatever the callers of twelve keys and three tenants do with each other's names, ids and sets, nothing crosses", async () => {
  const done: Partial<Record<Operation, number>> = {};
  const steps = fc.array(step, { minLength: STEPS, maxLength: STEPS });
  const property = fc.asyncProperty(steps, async (all) => {
    using attempts = new CrossingAttempts(world);
    for (const one of all) await attempts.run(one);
    attempts.finish();
    const { crossings, succeeded } = attempts.oracle;
    for (const [what, count] of Object.entries(succeeded))
      done[what as Operation] = (done[what as Operation] ?? 0) + count;
    expect(crossings).toEqual([]);
  });
  await fc.assert(property, { seed: 20260115, numRuns: Math.ceil(TRIED / STEPS), endOnFailure: true });
  // Callers got at their own things: it was not for being broken that nothing crossed.
  const missing = SUCCEEDING.filter((operation) => !(operation in done));
  if (TRIED >= 5_000) expect(missing).toEqual([]);
  // A few attempts are too few for the rarest of them.
  else expect(missing.length).toBeLessThan(SUCCEEDING.length / 2);
}, 600_000);
