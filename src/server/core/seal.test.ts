import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Seal } from "./seal.ts";

test("what was sealed opens again, with whatever was inside", () => {
  const seal = new Seal();
  for (const value of [null, "", "ü", 0, { cursor: "", deep: [{ a: 1 }] }]) {
    expect(seal.open(seal.seal(value, "me"), "me")).toEqual(value);
  }
});

test("nobody sees that two texts are of the same value", () => {
  const seal = new Seal();
  expect(seal.seal("same", "me")).not.toBe(seal.seal("same", "me"));
});

test("for anybody else, or with any letter changed, it does not open", () => {
  const seal = new Seal();
  const text = seal.seal({ page: 2 }, "tenant/me");
  expect(seal.open(text, "tenant/you")).toBeUndefined();
  for (let i = 0; i < text.length - 1; i++) {
    const changed = text.slice(0, i) + (text[i] === "A" ? "B" : "A") + text.slice(i + 1);
    expect(seal.open(changed, "tenant/me")).toBeUndefined();
  }
  for (const text of ["", ".", "x", "a.b", "🙂", "A".repeat(2_000_000)]) expect(seal.open(text, "")).toBeUndefined();
});

test("those who share a key open each other's; others do not", () => {
  const key = randomBytes(32);
  const text = new Seal(key).seal("x", "me");
  expect(new Seal(Buffer.from(key)).open(text, "me")).toBe("x");
  expect(new Seal().open(text, "me")).toBeUndefined();
});

test("a key of another size is refused", () => {
  expect(() => new Seal(Buffer.alloc(16))).toThrow("32 bytes");
});
