import fc from "fast-check";
import { expect, test } from "vitest";
import { IdTable } from "./id-table.ts";

test("an id table holds what a Map holds, for any ids in any order (N5)", () => {
  const id = fc.oneof(fc.nat(300), fc.integer(), fc.double(), fc.constantFrom("a", "b", "1"));
  fc.assert(
    fc.property(fc.array(fc.tuple(id, fc.boolean()), { maxLength: 300 }), (steps) => {
      const table = new IdTable<string>();
      const model = new Map<string | number, string>();
      for (const [key, add] of steps) {
        if (add) {
          table.set(key, `v${key}`);
          model.set(key, `v${key}`);
        } else {
          table.delete(key);
          model.delete(key);
        }
        expect(table.get(key)).toBe(model.get(key));
      }
      expect(table.values().sort()).toEqual([...model.values()].sort());
    }),
  );
});

test("an id table finds old calls while thousands come and go", () => {
  const table = new IdTable<number>();
  table.set(1, 1);
  for (let id = 2; id < 20_000; id++) {
    table.set(id, id);
    table.delete(id);
  }
  table.set(20_000, 20_000);
  expect(table.get(1)).toBe(1);
  expect(table.values()).toEqual([1, 20_000]);
});
