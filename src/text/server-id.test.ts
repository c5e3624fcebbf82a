import fc from "fast-check";
import { expect, test } from "vitest";
import { serverId } from "./server-id.ts";

test.for([
  ["github", "github"],
  ["a--b-", "a--b-"],
  ["My Server", "my-server"],
  ["@scope/server.name", "scope-server-name"],
  ["1password", "s-1password"],
  ["Größe", "gr-e"],
] as const)("P0: a server called %s has the id %s", ([name, id]) => {
  expect(serverId(name)).toBe(id);
});

test("P0: every name becomes an id, and an id stays unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (name) => {
      const id = serverId(name);
      expect(id).toMatch(/^[a-z][a-z0-9-]{0,31}$/);
      expect(serverId(id)).toBe(id);
    }),
  );
});

test("P0: long names that differ only at the end have different ids", () => {
  const long = "a-very-long-name-of-a-server-that-goes-on";
  expect(serverId(`${long}-one`)).not.toBe(serverId(`${long}-two`));
});
