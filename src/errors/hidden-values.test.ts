import { inspect } from "node:util";
import { expect, test } from "vitest";
import { HiddenValues } from "./hidden-values.ts";
import { NexusError } from "./nexus-error.ts";
import { cpuClock } from "../../test/fixtures/cpu-time.ts";

test("P1.9: values are masked in plain text, line by line, and in JSON and URLs", () => {
  const hidden = new HiddenValues(["s3cret/+token", "first line\nsecond line", "short", 'quo"ted!', "ü-s3cret"]);
  expect(hidden.in("a s3cret/+token b s3cret%2F%2Btoken")).toBe("a ••• b •••");
  expect(hidden.in("> second line <")).toBe("> ••• <");
  expect(hidden.in(JSON.stringify({ a: 'quo"ted!' }))).toBe(`{"a":"•••"}`);
  expect(hidden.in("a%20s3cret%252F%252Btoken, s3cret%2f+token")).toBe("a%20•••, •••");
  expect(hidden.in(JSON.stringify(JSON.stringify(["first line\nsecond line"])))).toBe(String.raw`"[\"•••\"]"`);
  expect(hidden.in(String.raw`%C3%BC-s3cret \u00fc-s3cret`)).toBe("••• •••");
  expect(hidden.in("first%20line first+line first\tline")).toBe("••• ••• •••");
  expect(hidden.in("nothing + here\\, 100%")).toBe("nothing + here\\, 100%");
});

test("P1.9: a value is masked inside Base64 at any position, and across line breaks", () => {
  const hidden = new HiddenValues(["s3cret/+token?>"]);
  for (const before of ["", "u", "us", "use", "user:"]) {
    for (const encoding of ["base64", "base64url"] as const) {
      const shown = hidden.in(`Basic ${Buffer.from(`${before}s3cret/+token?>`).toString(encoding)}!`);
      expect(shown).toMatch(/^Basic [\w+/-]{0,7}•••[\w+/=-]{0,4}!$/);
    }
  }
  expect(hidden.in("a s3cret/\n+tok\r\n  en?> b")).toBe("a ••• b");
});

test("P1.9: a short value is masked only as a whole word", () => {
  const hidden = new HiddenValues(["short", "1", "ab"]);
  expect(hidden.in("short, but shorter: 1 ab")).toBe("•••, but shorter: 1 ab");
});

test("P1.9: very many and very long values take little time, hostile text too", () => {
  const values = Array.from({ length: 200 }, (_, index) => `${index}${'/"ü'.repeat(100)}`);
  const spent = cpuClock();
  const hidden = new HiddenValues(["a".repeat(400_000), ...values]);
  const pieces = hidden.pieces();
  for (const text of [" ".repeat(500_000), "\\".repeat(500_000), "%25".repeat(200_000), "+\n".repeat(200_000)]) {
    expect(hidden.in(text)).toBe(text);
    pieces.next(text);
  }
  expect(hidden.in(`${values[7]} `.repeat(5_000))).toBe("••• ".repeat(5_000));
  expect(spent()).toBeLessThan(20_000);
});

test("P1.9: a value that arrives in two pieces is masked, and nothing else is lost or delayed", () => {
  const pieces = new HiddenValues(["s3cret-token"]).pieces();
  expect([pieces.next("a s3cr"), pieces.next("et-token b\n"), pieces.next("is s3"), pieces.rest()]).toEqual([
    "a ",
    "••• b\n",
    "is ",
    "s3",
  ]);
  const more = new HiddenValues(["s3cret/token"]).pieces();
  expect([more.next("x=s3cret%2"), more.next("Ftoken\nas"), more.next("\ns3cret/\n"), more.next("token\n")]).toEqual([
    "x=",
    "•••\na",
    "s\n",
    "•••\n",
  ]);
});

test("P1.9: the values are masked in all parts of an error, and cannot be read back", () => {
  const hidden = new HiddenValues(["s3cret-token"]);
  const error = new NexusError("SERVER_EXITED", "It said: s3cret-token", {
    stderr: ["bad s3cret-token"],
    rpc: { code: 1, message: "m", data: { token: "s3cret-token" } },
    cause: Object.assign(new Error("s3cret-token"), { code: "EX" }),
    server: "s3cret-token",
    hint: "h",
  });
  const shown = hidden.inError(error);
  expect(shown).toMatchObject({ code: "SERVER_EXITED", message: "It said: •••", hint: "h", cause: { code: "EX" } });
  // A server's name is in every error about it, and no secret.
  const { server: _server, ...details } = shown.details;
  expect(
    inspect([shown.message, shown.stack, shown.cause, details, hidden], { depth: 9, showHidden: true }),
  ).not.toContain("s3cret-token");
  expect(JSON.stringify({ hidden })).toBe("{}");
});

const KEY = "Tk-5f0c/2b7e+91d34";

test.each([
  ["large letters", KEY.toUpperCase()],
  ["hexadecimal digits", Buffer.from(KEY).toString("hex").toUpperCase()],
  ["letters with joiners of no width", Array.from(KEY).join("\u200b")],
  ["a longer text in Base64", Buffer.from(`u:${KEY}, more`).toString("base64")],
])("a value that is repeated in %s is masked, also in pieces (X9)", (_, form) => {
  const hidden = new HiddenValues([KEY]);
  expect(hidden.in(`before ${form} after`)).toMatch(/^before \S*•••\S* after$/u);
  const pieces = hidden.pieces();
  const shown = Array.from(`before ${form} after`, (letter) => pieces.next(letter)).join("") + pieces.rest();
  expect(shown).toMatch(/^before \S*•••\S* after$/u);
});
