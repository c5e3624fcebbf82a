import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import { nextSituation, type ReportedState } from "./host-connection.ts";
import { TRANSITIONS, type SupervisorEvent, type SupervisorState } from "./supervisor-machine.ts";

const error = new NexusError("CONNECTION_LOST", "gone");
const READY: ReportedState = { kind: "ready", era: "modern", protocolVersion: "2026-07-28" };
const DEGRADED: ReportedState = { ...READY, kind: "degraded", error };
const FAILED: ReportedState = { kind: "failed", error };

/** The events that carry a report, and what they report. */
const REPORTS: Partial<Record<SupervisorEvent, ReportedState>> = {
  opened: READY,
  "lists-read": READY,
  "opened-without-lists": DEGRADED,
  "lists-failed": DEGRADED,
  "start-failed": FAILED,
  lost: FAILED,
};

test("the shown state of a server fits the state of the machine after every transition of the table", () => {
  for (const [from, events] of Object.entries(TRANSITIONS)) {
    const shown = Object.values(REPORTS).find(({ kind }) => kind === from) ?? ({ kind: "idle" } as const);
    const before = { machine: from as SupervisorState, shown };
    for (const [event, transition] of Object.entries(events)) {
      if (transition.kind !== "go") continue;
      const { to } = transition;
      const after = nextSituation(before, to, REPORTS[event as SupervisorEvent]);
      expect(after.machine).toBe(to);
      if (to === from) expect(after.shown.kind).toBe(shown.kind);
      else expect(after.shown.kind).toBe(to === "closing" ? shown.kind : to);
    }
  }
});

test("a server cannot become ready or fail without a report of the connection", () => {
  const starting = { machine: "starting", shown: { kind: "starting" } } as const;
  expect(() => nextSituation(starting, "ready")).toThrow("without a report");
  expect(() => nextSituation(starting, "failed", READY)).toThrow("without a report");
});
