import fc from "fast-check";
import { expect, test } from "vitest";
import { findMember, memberAt, type Member } from "./source-node.ts";

const place = { line: 1, column: 1 };
const member = (key: string, value: unknown): Member => ({ key, place, node: { kind: "scalar", place, value } });

test("of members with the same key, one search finds the first and the other the last, however many there are", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c", "__proto__"), { maxLength: 40 }), (keys) => {
      const members = keys.map((key, at) => member(key, at));
      const node = { kind: "object", place, members } as const;
      for (const key of ["a", "b", "c", "__proto__", "constructor"]) {
        expect(memberAt(node, key)).toBe(members.find((each) => each.key === key));
        expect(findMember(node, key)).toBe(members.findLast((each) => each.key === key));
      }
    }),
  );
});

test("searching all of 10,000 members reads each of them a few times", () => {
  let read = 0;
  const members = Array.from({ length: 10_000 }, (_, at) => member(`m${at}`, at)).map((each) => ({
    ...each,
    get key() {
      read++;
      return each.key;
    },
  }));
  const node = { kind: "object", place, members } as const;
  for (let at = 0; at < 10_000; at++) expect(memberAt(node, `m${at}`)).toBe(members[at]);
  expect(read).toBeLessThan(50_000);
});
