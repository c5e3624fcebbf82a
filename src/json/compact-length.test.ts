import { expect, test } from "vitest";
import { compactLength } from "./compact-length.ts";

test.each([
  [{}],
  [[]],
  [{ a: [], b: {}, "": null, ü: "€ and \u{1F600}" }],
  [[true, false, null, 0, 9, 10, -1, -12, 1.5, -0.25, 0.125, 999, 1234.5, 9007199254740991]],
  [
    {
      items: [
        { id: "a", tags: ["x", "y"] },
        { id: "b", tags: [] },
      ],
      total: 2,
    },
  ],
])("the compact length of a value is that of its JSON: %j", (value) => {
  expect(compactLength(value)).toBe(JSON.stringify(value).length);
});

test.each([
  [`{"a": 1}`],
  [`{"a":1 }`],
  [`[1,\n2]`],
  [`{"a":1,"a":1}`],
  [String.raw`{"a":"\u0062"}`],
  [String.raw`{"a":"\/"}`],
  [`[1.0]`],
  [`[12e1]`],
  [`[12e-1]`],
  [`[-0]`],
  [`["x",12e2, 5]`],
])("a document that JSON.stringify would write in another way does not have the compact length: %s", (text) => {
  expect(compactLength(JSON.parse(text))).not.toBe(text.length);
});

test.each([[100], [-1_700_000_000_000], [0.012], [1e300], [1e-9], [2 ** 60], [0.1 + 0.2]])(
  "the compact length of a number that may be shorter in a document is not known: %d",
  (value) => {
    expect(compactLength({ a: value })).toBeUndefined();
    expect(compactLength([[value]])).toBeUndefined();
  },
);
