import { expect, test } from "vitest";
import { isDate, isDateTime } from "./calendar.ts";

test.each([
  ["2026-05-02T10:00", true],
  ["2026-05-02T23:59:60Z", true],
  ["2026-05-02T10:00:00.123456789012+23:59", true],
  ["2026-05-02T10:00-02:00", true],
  ["2024-02-29T10:00:00", true],
  ["2026-05-02T24:00", false],
  ["2026-05-02T10:60", false],
  ["2026-05-02T10:00:61", false],
  ["2026-05-02T10:00+24:00", false],
  ["2026-05-02T10:00:00.5-10:60", false],
  ["2026-02-29T10:00:00Z", false],
  ["2026-13-01T10:00:00Z", false],
  ["2026-05-02T10:00:00Z\n", false],
  ["2026-05-02", false],
])("%j is a time of an existing day: %j", (text, isRight) => expect(isDateTime(text)).toBe(isRight));

test.each([
  ["2024-02-29", true],
  ["2000-02-29", true],
  ["2026-12-31", true],
  ["1900-02-29", false],
  ["2026-04-31", false],
  ["2026-00-10", false],
  ["2026-01-00", false],
  ["2026-1-01", false],
])("%j is an existing day: %j", (text, isRight) => expect(isDate(text)).toBe(isRight));
