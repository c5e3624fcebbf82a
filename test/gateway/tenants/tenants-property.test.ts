import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { isFull } from "../../fixtures/depth.ts";
import { CrossingAttempts, step } from "./crossing-attempts.ts";
import { TENANTS } from "./marked-servers.ts";
import { TenantWorld } from "./tenant-world.ts";

let world: TenantWorld;
beforeAll(async () => {
  // So short that tenants are closed and opened again between the steps.
  world = await TenantWorld.open({ limits: { tenantIdleMs: 15, parkedMs: 100, sessions: 200 } });
});
afterAll(() => world[Symbol.asyncDispose]());

test("whatever callers of several tenants do with each other's names and ids, nothing crosses", async () => {
  const done: Params = {};
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
    using attempts = new CrossingAttempts(world);
    for (const one of steps) await attempts.run(one);
    for (const [what, count] of Object.entries(attempts.succeeded)) done[what] = Number(done[what] ?? 0) + count;
    expect(attempts.crossings).toEqual([]);
    for (const tenant of TENANTS) {
      for (const other of TENANTS.filter((each) => each !== tenant)) {
        expect([tenant, other, world.servers[tenant].hasReceived(`by ${other}`)]).toEqual([tenant, other, false]);
      }
    }
    for (const servers of Object.values(world.servers)) servers.forget();
  });
  await fc.assert(property, { seed: 20260115, numRuns: isFull ? 500 : 15, endOnFailure: true });
  // Callers got at their own things: it was not for being broken that nothing crossed.
  for (const what of ["page", "call", "answer", "follow task", "read", "use session", "post sse", "listen"]) {
    expect(done).toHaveProperty([what]);
  }
  expect(world.openings.length).toBeGreaterThan(3);
}, 600_000);
