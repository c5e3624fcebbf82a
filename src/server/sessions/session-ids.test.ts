import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Seal } from "../core/seal.ts";
import { ANYBODY } from "../core/principal.ts";
import { EndedSessions } from "./session-ids.ts";
import { SessionIds, type BoundTo } from "./session-ids.ts";

const AGREED = { version: "2025-06-18", capabilities: { roots: {} } } as const;
const HERE: BoundTo = { transport: "http", core: { name: "" }, principal: ANYBODY };

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

test("an id is good for whom and what it was given out, and nobody else", () => {
  const ids = new SessionIds(1000);
  const id = ids.seal(AGREED, HERE);
  expect(ids.open(id, HERE)).toMatchObject(AGREED);
  const others: BoundTo[] = [
    { ...HERE, transport: "sse" },
    { ...HERE, core: { name: "a" } },
    { ...HERE, principal: { ...ANYBODY, id: "eve" } },
    { ...HERE, principal: { ...ANYBODY, tenant: "other" } },
  ];
  for (const other of others) expect(ids.open(id, other)).toBeUndefined();
  for (const forged of [`${id}=`, `${id}A`, id.slice(0, -1), id.toUpperCase()]) {
    expect(ids.open(forged, HERE)).toBeUndefined();
  }
  expect(new SessionIds(1000).open(id, HERE)).toBeUndefined();
});

test("a shorter life concerns ids of before, so that none outlives its revocation", async () => {
  const seal = new Seal();
  const ended = new EndedSessions();
  const id = new SessionIds(1_000_000, seal, ended).seal(AGREED, HERE);
  const shorter = new SessionIds(1000, seal, ended);
  expect(shorter.open(id, HERE)).toMatchObject(AGREED);
  await shorter.endAll(ANYBODY);
  expect(shorter.open(id, HERE)).toBeUndefined();
  vi.setSystemTime(1_002_000);
  expect(new SessionIds(1000, seal).open(id, HERE)).toBeUndefined();
});
