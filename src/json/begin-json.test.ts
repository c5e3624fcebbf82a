import fc from "fast-check";
import { expect, test } from "vitest";
import { beginJson } from "./begin-json.ts";

test("the beginning of a value's JSON is that of its whole JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 80 }), (value, length) => {
      const whole = JSON.stringify(value);
      expect(beginJson(value, length)?.slice(0, length)).toBe(whole.slice(0, length));
    }),
  );
});

test("only as much of a value is read as its beginning needs", () => {
  let read = 0;
  const counted = new Proxy(
    Array.from({ length: 100_000 }, () => 1),
    {
      get: (target, name, receiver: unknown) => {
        if (typeof name === "string" && /^\d+$/.test(name)) read++;
        return Reflect.get(target, name, receiver) as unknown;
      },
    },
  );
  expect(beginJson(counted, 60)).toMatch(/^\[1,1,1/);
  expect(read).toBeLessThan(50);
  expect(beginJson("x".repeat(1_000_000), 60)).toHaveLength(63);
  expect(beginJson(undefined, 60)).toBeUndefined();
});
