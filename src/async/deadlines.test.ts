import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallScope, type CallOptions } from "../client/conversation/call-scope.ts";
import { Deadlines } from "./deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function scopes(...options: CallOptions[]): CallScope[] {
  const deadlines = new Deadlines();
  return options.map((each) => new CallScope({ method: "tools/call" }, each, { deadlines, timeoutMs: 1_000 }));
}

const codes = (list: CallScope[]) => list.map(({ stopped }) => stopped?.code);

test("each call expires at its own time, in any order of creation (N5)", () => {
  const calls = scopes({}, { timeoutMs: 500 }, { timeoutMs: 2_000 }, { timeoutMs: 100 });
  const ended: (string | undefined)[][] = [];
  for (const step of [100, 400, 500, 1_000]) {
    vi.advanceTimersByTime(step);
    ended.push(codes(calls));
  }
  expect(ended).toEqual([
    [undefined, undefined, undefined, "TIMEOUT"],
    [undefined, "TIMEOUT", undefined, "TIMEOUT"],
    ["TIMEOUT", "TIMEOUT", undefined, "TIMEOUT"],
    ["TIMEOUT", "TIMEOUT", "TIMEOUT", "TIMEOUT"],
  ]);
});

test("a call without an answer reports the server's last progress message", () => {
  const cancel = new AbortController();
  const [late, cancelled, silent] = scopes({}, { signal: cancel.signal }, {});
  for (const call of [late, cancelled]) if (call) call.lastProgress = "Sending. If no answer comes: ask about A-17.";
  cancel.abort();
  vi.advanceTimersByTime(1_000);
  const last = "Last progress: Sending. If no answer comes: ask about A-17.";
  expect(late?.stopped?.message).toMatch(new RegExp(`^No answer .* after 1 s\\. ${last}$`));
  expect(cancelled?.stopped?.message).toBe(`tools/call was cancelled. ${last}`);
  expect(silent?.stopped?.message).toMatch(/^No answer .* after 1 s$/);
});

test("progress moves the deadline of a call up to the total, and no further (R6)", () => {
  const [call] = scopes({ timeoutMs: 100, totalTimeoutMs: 250 });
  for (let step = 0; step < 4; step++) {
    vi.advanceTimersByTime(60);
    call?.touch();
  }
  expect(call?.stopped).toBeUndefined();
  vi.advanceTimersByTime(15);
  expect(call?.stopped?.code).toBe("TIMEOUT");
});

test("the clock of a call stops while it is paused, however often and long", () => {
  const [call] = scopes({ timeoutMs: 100 });
  vi.advanceTimersByTime(60);
  call?.pause();
  call?.pause();
  vi.advanceTimersByTime(10_000);
  call?.resume();
  vi.advanceTimersByTime(10_000);
  call?.resume();
  vi.advanceTimersByTime(39);
  expect(call?.stopped).toBeUndefined();
  vi.advanceTimersByTime(2);
  expect(call?.stopped?.code).toBe("TIMEOUT");
});

test("a call that is over does not expire, and a late resume has no effect", () => {
  const [call] = scopes({ timeoutMs: 100 });
  call?.pause();
  call?.finish();
  call?.resume();
  vi.advanceTimersByTime(10_000);
  expect(call?.stopped).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test("an aborted signal stops a call before it begins and after", () => {
  const abort = new AbortController();
  const [before] = scopes({ signal: AbortSignal.abort("early") });
  const [after] = scopes({ signal: abort.signal });
  abort.abort("late");
  expect([before?.stopped, after?.stopped]).toMatchObject([
    { code: "CANCELLED", cause: "early" },
    { code: "CANCELLED", cause: "late" },
  ]);
});
