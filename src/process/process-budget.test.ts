import { expect, test } from "vitest";
import { NexusError } from "../errors/nexus-error.ts";
import { ProcessBudget, type ProcessRequest, type ProcessSlot } from "./process-budget.ts";
import type { ProcessLimits } from "./process-limits.ts";

/** A budget whose processes end as soon as they are told to. */
class Budget {
  readonly budget: ProcessBudget;
  readonly stopped: string[] = [];

  constructor(limits: ProcessLimits) {
    this.budget = new ProcessBudget(limits);
  }

  open(name: string, given: Partial<ProcessRequest> = {}): ProcessSlot {
    const stop = () => {
      this.stopped.push(name);
      slot.release();
    };
    const request = { tenant: "t", server: "s", principal: "p", signal: new AbortController().signal, stop, ...given };
    const slot: ProcessSlot = this.budget.open(request);
    return slot;
  }

  /** In use and then idle. */
  idle(name: string, given: Partial<ProcessRequest> = {}): ProcessSlot {
    const slot = this.open(name, given);
    slot.rest();
    return slot;
  }
}

const isWaiting = ({ waitingFor }: ProcessSlot) => waitingFor !== undefined;

test("processes start until the limit is reached; the next start waits until one is gone, and says so", async () => {
  const world = new Budget({ processes: 2 });
  const one = world.open("one");
  world.open("two");
  const three = world.open("three");
  expect(three.waitingFor).toBe("waiting for a free process; 2 of 2 are in use");
  expect(world.budget.usage()).toEqual({ processes: 2, waiting: 1, memoryBytes: 0 });
  one.release();
  await three.ready;
  expect(world.budget.usage()).toMatchObject({ processes: 2, waiting: 0 });
});

test("the idle process that was used least recently stops first, and only as many as are needed", async () => {
  const world = new Budget({ processes: 3 });
  const [oldest, used] = [world.idle("oldest"), world.idle("used")];
  world.idle("newest");
  oldest.stir();
  oldest.rest();
  await world.open("next").ready;
  expect(world.stopped).toEqual(["used"]);
  expect(isWaiting(used)).toBe(false);
  await world.open("another").ready;
  expect(world.stopped).toEqual(["used", "newest"]);
});

test("a process that becomes idle while another start waits stops at once", async () => {
  const world = new Budget({ processes: 1 });
  const busy = world.open("busy");
  const waiting = world.open("waiting");
  busy.rest();
  expect(world.stopped).toEqual(["busy"]);
  await waiting.ready;
});

test("the limit of a server or of a tenant stops its own idle processes and no others", async () => {
  const world = new Budget({ processesPerServer: 1, processesPerTenant: 2 });
  world.idle("other tenant", { tenant: "u" });
  world.idle("other server", { server: "r" });
  world.idle("same server");
  await world.open("next").ready;
  expect(world.stopped).toEqual(["same server"]);
  await world.open("third server", { server: "q" }).ready;
  expect(world.stopped).toEqual(["same server", "other server"]);
  expect(world.open("one more").waitingFor).toBe("waiting for a free process; 1 of 1 for this server are in use");
  expect(world.open("yet another", { server: "x" }).waitingFor).toBe(
    "waiting for a free process; 2 of 2 for this tenant are in use",
  );
});

test("a start that is held up by its own server stops nobody else's process and holds up nobody else", async () => {
  const world = new Budget({ processes: 2, processesPerServer: 1 });
  const busy = world.open("busy");
  world.idle("idle", { server: "r" });
  const held = world.open("held up");
  expect([isWaiting(held), world.stopped]).toEqual([true, []]);
  await world.open("free to start", { server: "q" }).ready;
  expect(world.stopped).toEqual(["idle"]);
  busy.release();
  await held.ready;
});

test("starts that wait are served in turn: tenants first, then the principals of a tenant", () => {
  const world = new Budget({ processes: 1 });
  let current = world.open("first");
  const waiting = new Map(
    ["ax1", "ax2", "ay3", "bx1", "bx2"].map((name) => {
      const [tenant, principal] = [name.charAt(0), name.charAt(1)];
      return [name, world.open(name, { tenant, principal })];
    }),
  );
  const order: string[] = [];
  while (waiting.size > 0) {
    current.release();
    for (const [name, slot] of waiting) {
      if (isWaiting(slot)) continue;
      order.push(name);
      waiting.delete(name);
      current = slot;
    }
  }
  expect(order).toEqual(["ax1", "bx1", "ay3", "bx2", "ax2"]);
});

test("a start that waits too long fails with BUSY, and one that is no longer wanted leaves", async () => {
  const world = new Budget({ processes: 1, processWaitMs: 20 });
  const busy = world.open("busy");
  const error = await world.open("late").ready.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "BUSY",
    message: `Server "s" was not started: waiting for a free process; 1 of 1 are in use`,
    details: { server: "s", mayHaveReached: false, retryAfterMs: 1_000 },
  });
  const leaving = new AbortController();
  const left = world.open("left", { signal: leaving.signal });
  leaving.abort(new NexusError("CANCELLED", "no longer wanted"));
  await expect(left.ready).rejects.toMatchObject({ code: "CANCELLED" });
  busy.release();
  expect(world.budget.usage()).toMatchObject({ processes: 0, waiting: 0 });
});

test("a slot is free when its process is gone, not when it was told to end", async () => {
  const world = new Budget({ processes: 1 });
  const slot = world.open("slow");
  let exit: () => void = () => {};
  slot.spawned({ pid: 1, exited: new Promise<void>((resolve) => (exit = resolve)), kill() {} });
  slot.release();
  const next = world.open("next");
  expect(isWaiting(next)).toBe(true);
  exit();
  await next.ready;
});

test("a raised limit lets those that wait start at once; a server's own limit counts before that of all servers", async () => {
  const world = new Budget({ processes: 1, processesPerServer: 1 });
  world.open("busy", { limits: { processes: 2 } });
  const waiting = world.open("waiting", { limits: { processes: 2 } });
  world.budget.setLimits({ processes: 3, processesPerServer: 1 });
  await waiting.ready;
  expect(isWaiting(world.open("third", { limits: { processes: 2 } }))).toBe(true);
});
