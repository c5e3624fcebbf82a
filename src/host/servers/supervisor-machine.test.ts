import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TRANSITIONS, type SupervisorEvent, type SupervisorState, type Transition } from "./supervisor-machine.ts";

const GOLDEN = fileURLToPath(new URL("../../../test/golden/supervisor-machine.txt", import.meta.url));
const STATES = Object.keys(TRANSITIONS) as SupervisorState[];
const EVENTS = Object.keys(TRANSITIONS.idle) as SupervisorEvent[];

/** One line for each state and event. */
function tableText(): string {
  const lines = STATES.flatMap((state) => [
    "",
    state,
    ...EVENTS.map((event) => `  ${event.padEnd(22)}${cellText(state, TRANSITIONS[state][event])}`),
  ]);
  return `What a supervised server does: state, event, next state and effects\n${lines.join("\n")}\n`;
}

function cellText(from: SupervisorState, transition: Transition): string {
  if (transition.kind === "ignore") return "ignored";
  if (transition.kind === "never") return `never: ${transition.reason}`;
  const { to, effects } = transition;
  return `${to === from ? "stays" : `→ ${to}`}: ${effects.join(", ")}`;
}

test("the table of the server supervisor decides every state and event, and reads as its golden text", async () => {
  for (const state of STATES) expect(Object.keys(TRANSITIONS[state]).sort()).toEqual([...EVENTS].sort());
  await expect(tableText()).toMatchFileSnapshot(GOLDEN);
});

test("a supervised server reports every change of its state, with its last effect", () => {
  for (const state of STATES) {
    for (const event of EVENTS) {
      const transition = TRANSITIONS[state][event];
      if (transition.kind !== "go" || transition.to === "closing") continue;
      const last = transition.effects.at(-1);
      if (transition.to !== state)
        expect([`${state} ${event}`, last]).toEqual([`${state} ${event}`, expect.stringMatching(/^report/)]);
      const reports = transition.effects.filter((effect) => effect.startsWith("report"));
      expect(reports.length).toBeLessThanOrEqual(1);
      expect(reports.length === 0 || last === reports[0]).toBe(true);
    }
  }
});

/** What the effects of the machine have done so far, and so which events may follow. */
interface World {
  state: SupervisorState;
  isOn: boolean;
  isOpening: boolean;
  isUp: boolean;
  hasTimer: boolean;
}

/** The events that the world of a server can cause now. */
function possible({ state, isOn, isOpening, isUp }: World): SupervisorEvent[] {
  const isOver = state === "closing" || state === "stopped";
  const mayRun = isOn && !isOver && state !== "blocked";
  return [
    ...(mayRun ? (["retry", "restart"] as const) : []),
    ...(mayRun && !isOpening && !isUp ? (["start"] as const) : []),
    ...(isOpening ? (["start-failed"] as const) : []),
    ...(isOpening && !isOver ? (["opened", "opened-without-lists"] as const) : []),
    ...(isUp ? (["lists-read", "lists-failed", "lost", "pause"] as const) : []),
    isOn ? "switch-off" : "switch-on",
    "close",
    // Closing twice is told twice that it is done.
    ...(isOver ? (["closed"] as const) : []),
  ];
}

function step(world: World, event: SupervisorEvent): World {
  const transition = TRANSITIONS[world.state][event];
  if (transition.kind === "never") throw new Error(`${world.state} got ${event}: ${transition.reason}`);
  const next = { ...world };
  if (event === "switch-on" || event === "switch-off") next.isOn = event === "switch-on";
  if (event === "start-failed") next.isOpening = false;
  if (transition.kind === "ignore") return next;
  next.state = transition.to;
  for (const effect of transition.effects) {
    if (effect === "end") next.isOpening = next.isUp = false;
    if (effect === "open" && (next.isOpening || next.isUp)) throw new Error(`${world.state} opened a second one`);
    if (effect === "open") next.isOpening = true;
    if (effect === "watch") [next.isOpening, next.isUp] = [false, true];
    if (effect === "retire" || effect === "close-connections") next.isUp = false;
    if (effect === "plan-retry") next.hasTimer = next.isOn;
    if (effect === "cancel-retry") next.hasTimer = false;
  }
  return next;
}

test("no sequence of events brings a supervised server to a pair that never happens, or to two connections", () => {
  const choices = fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 });
  const reached = new Set<string>();
  fc.assert(
    fc.property(fc.constantFrom<SupervisorState>("idle", "blocked"), fc.boolean(), choices, (first, isOn, picks) => {
      let world: World = { state: first, isOn, isOpening: false, isUp: false, hasTimer: false };
      for (const pick of picks) {
        const events = possible(world);
        const event = events[pick % events.length] ?? "close";
        reached.add(`${world.state} ${event}`);
        world = step(world, event);
        expect(world.isUp).toBe(world.state === "ready" || world.state === "degraded");
        if (world.state !== "closing" && world.state !== "stopped") {
          expect(world.isOpening).toBe(world.state === "starting");
        }
        if (world.hasTimer) expect([world.state, world.isOn]).toEqual(["failed", true]);
      }
    }),
    { seed: 1, numRuns: 2_000 },
  );
  const decided = STATES.flatMap((state) => EVENTS.map((event) => ({ state, event })));
  const never = decided.filter(({ state, event }) => TRANSITIONS[state][event].kind === "never");
  const unreached = decided.filter(({ state, event }) => !reached.has(`${state} ${event}`));
  expect(unreached).toEqual(never);
});
