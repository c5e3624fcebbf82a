import { expect, test } from "vitest";
import { fullName, fullUri, resolveFullName, resolveFullUri } from "./names.ts";

const isServer = (id: string) => ["a", "a-b", "docs", "toString"].includes(id);
const servers = {
  findIdByPrefix: (prefix: string) => (prefix === "d" ? "docs" : isServer(prefix) ? prefix : undefined),
};

test("G: a name may begin with the prefix of a server's entry", () => {
  expect(resolveFullName("d__read__all", servers)).toEqual({ server: "docs", own: "read__all" });
  expect(resolveFullUri("d+x://y", isServer)).toBeUndefined();
});

test("the full name of any thing leads back to it", () => {
  for (const server of ["a", "a-b", "docs"]) {
    for (const own of ["x", "x__y", "__x", "_x", "a__b", "", "a.b/c d", "ü+__"]) {
      expect(resolveFullName(fullName(server, own), servers)).toEqual({ server, own });
    }
    for (const own of ["file:///a+b.txt", "git+ssh://x", "+", "docs+x://y", "x://{a}/{+rest}"]) {
      expect(resolveFullUri(fullUri(server, own), isServer)).toEqual({ server, own });
    }
  }
});

test("a name without a known server is not resolved", () => {
  for (const text of ["x", "__x", "b__x", "ab__x", "A__x", "a_x", "constructor__x", ""]) {
    expect(resolveFullName(text, servers)).toBeUndefined();
  }
  for (const text of ["file:///a+b", "git+ssh://x", "+x", "a:x"])
    expect(resolveFullUri(text, isServer)).toBeUndefined();
});
