import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultInstance, instanceFileName, instanceKey, type ServerInstance } from "./server-instance.ts";

const part = fc.oneof(fc.string({ maxLength: 6 }), fc.stringMatching(/^[0-9:a]{0,6}$/));
const instance: fc.Arbitrary<ServerInstance> = fc.record({ tenant: part, server: part, instance: part });

test("different instances always have different keys", () => {
  const named = fc.tuple(instance, fc.array(part, { maxLength: 3 }));
  fc.assert(
    fc.property(named, named, ([one, oneNames], [other, otherNames]) => {
      const isSame = JSON.stringify([one, oneNames]) === JSON.stringify([other, otherNames]);
      expect(instanceKey(one, ...oneNames) === instanceKey(other, ...otherNames)).toBe(isSame);
    }),
    {
      examples: [
        [
          [{ tenant: "a", server: "1:b", instance: "" }, []],
          [{ tenant: "a1:", server: "b", instance: "" }, []],
        ],
      ],
    },
  );
});

test("a file name is readable and contains no path separators", () => {
  expect(instanceFileName(defaultInstance("capcorn"))).toMatch(/^capcorn-[0-9a-f]{16}$/);
  fc.assert(fc.property(instance, (of) => /^[a-z0-9-]{17,50}$/.test(instanceFileName(of))));
  expect(instanceFileName(defaultInstance("a.b"))).not.toBe(instanceFileName(defaultInstance("a-b")));
});
