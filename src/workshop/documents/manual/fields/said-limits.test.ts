import { expect, test } from "vitest";
import { limitsIn } from "./said-limits.ts";

test("X5 limits in sentences are read with their direction, and conditions and decimals are no limits", () => {
  const said: [text: string, limits: object[]][] = [
    ["between 1 and 10", [{ least: 1, most: 10 }]],
    ["Max. length: 40", [{ most: 40, of: "length" }]],
    ["max 50 chars", [{ most: 50, of: "length" }]],
    ["The value cannot be greater than `60000`. Supports up to three decimal places.", [{ most: 60000 }]],
    ["must not be less than 5", [{ least: 5 }]],
    ["must be greater than 0", [{ least: 0, isExclusive: true, of: "value" }]],
    ["Maximum: 5000. If limit > 5000, only 5000 entries will be returned.", [{ most: 5000 }]],
    ["e.g. 12 to 14", []],
  ];
  for (const [text, limits] of said) expect(limitsIn(text), text).toEqual(limits);
});
