import fc from "fast-check";
import type { Fault } from "./fault.ts";
import { SERVER_KINDS } from "./server-kind.ts";
import type { Step } from "./step.ts";

/** One run: a server, what is done with it, and what goes wrong on the way. */
export interface Plan {
  server: string;
  /** Whether the client has to find out the revision. */
  opening: "probe" | "pinned";
  order: "one by one" | "all at once";
  steps: Step[];
  faults: Fault[];
}

/** Ordinary objects: a plan is printed as JSON and read again. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(model, { noNullPrototype: true });

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 6 });
const times = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 20 }), weight: 4 }, fc.integer({ min: 500, max: 8_000 }));

const step: fc.Arbitrary<Step> = fc.oneof(
  record({ kind: fc.constant("echo" as const), text, times }),
  record({ kind: fc.constant("add" as const), a: fc.integer(), b: fc.integer() }),
  record({ kind: fc.constant("once" as const), text }),
  record({ kind: fc.constant("ask" as const), name: text }),
  record({ kind: fc.constant("abort" as const), afterMs: fc.nat(20) }),
  fc.constant<Step>({ kind: "list" }),
  fc.constant<Step>({ kind: "progress" }),
  fc.constant<Step>({ kind: "read" }),
);

/** A client that does one thing after the other has one connection: most faults shall strike it. */
const connection = fc.oneof(fc.constant(0), fc.nat(2), fc.constant("every" as const));
/** Most of what matters is in heads and short bodies; some of it far into a long one. */
const atByte = fc.oneof(
  { arbitrary: fc.nat(700), weight: 4 },
  { arbitrary: fc.nat(4_000), weight: 2 },
  { arbitrary: fc.nat(60_000), weight: 1 },
);
const place = { connection, direction: fc.constantFrom("up" as const, "down" as const), atByte };
const fewBytes = fc.integer({ min: 1, max: 200 });

const fault: fc.Arbitrary<Fault> = fc.oneof(
  record({ kind: fc.constant("delay" as const), ...place, ms: fc.integer({ min: 1, max: 30 }) }),
  record({
    kind: fc.constant("stall" as const),
    ...place,
    ms: fc.oneof(fc.integer({ min: 100, max: 500 }), fc.constant("for ever" as const)),
  }),
  record({ kind: fc.constant("cut" as const), ...place }),
  record({ kind: fc.constant("half-close" as const), ...place }),
  record({ kind: fc.constant("split" as const), ...place, length: fewBytes, size: fc.integer({ min: 1, max: 9 }) }),
  record({ kind: fc.constantFrom("duplicate-event" as const, "reorder-events" as const), connection, nth: fc.nat(6) }),
  record({ kind: fc.constantFrom("duplicate-bytes" as const, "reorder-bytes" as const), ...place, length: fewBytes }),
);

export const plans: fc.Arbitrary<Plan> = record({
  server: fc.constantFrom(...SERVER_KINDS.map(({ name }) => name)),
  opening: fc.constantFrom("probe", "pinned"),
  order: fc.constantFrom("one by one", "all at once"),
  steps: fc.array(step, { minLength: 1, maxLength: 5, size: "max" }),
  faults: fc.array(fault, { minLength: 1, maxLength: 3, size: "max" }),
});
