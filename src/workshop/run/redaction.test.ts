import fc from "fast-check";
import { expect, test } from "vitest";
import { Redaction } from "./redaction.ts";

function hiding(...values: string[]): Redaction {
  const redaction = new Redaction();
  for (const value of values) redaction.hide(value);
  return redaction;
}

test("a secret is hidden as it is, in addresses, forms, JSON, markup and base64 (X9)", () => {
  const value = `p&ss "w+rd" <ö>`;
  const forms = [
    value,
    encodeURIComponent(value),
    encodeURIComponent(value).toLowerCase(),
    new URLSearchParams({ a: value }).toString(),
    JSON.stringify(value),
    `<a>p&amp;ss &quot;w+rd&quot; &lt;ö&gt;</a>`,
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url"),
  ];
  for (const form of forms) {
    const shown = hiding(value).in(`before ${form} after`);
    expect(shown).toMatch(/^before .*•••.* after$/);
    expect(shown).not.toContain("rd");
  }
});

test("a short secret is hidden only where it stands alone", () => {
  expect(hiding("0000").in("pin=0000&hotel=90000, 10000 and 0000")).toBe("pin=•••&hotel=90000, 10000 and •••");
});

test("of two secrets, one inside of the other, nothing remains", () => {
  expect(hiding("secret", "secret-long").in("a secret-long and a secret")).toBe("a ••• and a •••");
});

test("texts at any depth are redacted, names too; numbers stay", () => {
  expect(hiding("hunter22").inAll({ a: ["x hunter22", 5], hunter22: null })).toEqual({ a: ["x •••", 5], "•••": null });
});

test("whatever a secret is, redacted text does not hold it, and text without it is unchanged", () => {
  const secret = fc.string({ minLength: 6, maxLength: 30, unit: "binary" }).filter((text) => !text.includes("•"));
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const redaction = hiding(value);
      expect(redaction.in(`${before} ${value} ${after}`)).not.toContain(value);
      expect(redaction.in("nothing to see")).toBe("nothing to see");
    }),
  );
});
