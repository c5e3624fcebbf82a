import fc from "fast-check";
import { expect, test } from "vitest";
import { callerName, isKeyOf, ownerKey, principalKey, type Principal } from "./principal.ts";

/** What keys are made of, so that an attempt to imitate one is likely. */
const text = fc.oneof(fc.string({ unit: fc.constantFrom("1", "2", " ", "/", "%", "a", "\0", "é") }), fc.string());
const principal: fc.Arbitrary<Principal> = fc.record({ tenant: text, id: text });
const isSame = (a: Principal, b: Principal) => a.tenant === b.tenant && a.id === b.id;

test("two principals never have the same key, whatever characters their tenants and ids contain", () => {
  fc.assert(
    fc.property(principal, principal, (a, b) => {
      expect(principalKey(a) === principalKey(b)).toBe(isSame(a, b));
      expect(callerName(a) === callerName(b)).toBe(isSame(a, b));
    }),
    { numRuns: 2_000 },
  );
});

test("a key belongs to the tenant of its principal and to no other, whatever characters they contain", () => {
  fc.assert(
    fc.property(principal, text, (a, tenant) => {
      expect(isKeyOf(a.tenant, principalKey(a))).toBe(true);
      expect(isKeyOf(tenant, principalKey(a))).toBe(tenant === a.tenant);
    }),
    { numRuns: 2_000 },
  );
});

test("moving the border between tenant and id makes another principal", () => {
  fc.assert(
    fc.property(text, fc.nat(20), fc.nat(20), (whole, at, other) => {
      const [a, b] = [at, other].map((end) => ({ tenant: whole.slice(0, end), id: whole.slice(end) }));
      if (a && b) expect(principalKey(a) === principalKey(b)).toBe(isSame(a, b));
    }),
    { numRuns: 2_000 },
  );
});

test("owners of two principals never have the same key, whatever they are called", () => {
  fc.assert(
    fc.property(principal, principal, text, text, (a, b, ownerOfA, ownerOfB) => {
      const areSame = isSame(a, b) && ownerOfA === ownerOfB;
      expect(ownerKey(a, ownerOfA) === ownerKey(b, ownerOfB)).toBe(areSame);
      expect(!isSame(a, b) && ownerKey(b, ownerOfB).startsWith(principalKey(a))).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});
