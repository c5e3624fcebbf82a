import { expect, test } from "vitest";
import { clockFunctions, isTimeZone } from "./clock.ts";

const { now, today } = clockFunctions(() => Date.UTC(2025, 11, 16, 23, 30, 5));

test("the time and the date are those of the zone, and of UTC without one", () => {
  expect([now(), today()]).toEqual(["2025-12-16T23:30:05", "2025-12-16"]);
  expect([now("Europe/Vienna"), today("Europe/Vienna")]).toEqual(["2025-12-17T00:30:05", "2025-12-17"]);
  expect([now("America/New_York"), today("Pacific/Auckland")]).toEqual(["2025-12-16T18:30:05", "2025-12-17"]);
  expect([now("Nowhere/At_All"), today(7)]).toEqual([null, null]);
});

test("zones are known by the names of the IANA database", () => {
  expect(["Europe/Vienna", "UTC", "Europe/Wien", "+01:00", ""].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
