import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiWorld } from "./api-world.ts";

/** Texts that nearly fit: a backtracking engine tries every way to divide them, which takes minutes to centuries. */
const ATTACKS: [pattern: string, text: string][] = [
  [String.raw`^(\w+\s?)*$`, `${"a".repeat(36)}!`],
  ["^(a|a)*$", `${"a".repeat(60)}!`],
  ["^(a?){40}a{40}$", "a".repeat(39)],
  [String.raw`^(?=(\w+\s?)*$)x`, `${"a".repeat(36)}!`],
  [String.raw`^\d*\d*\d*\d*\d*\d*x$`, "1".repeat(4_000)],
];

let world: ApiWorld;
beforeAll(async () => {
  const fields = ATTACKS.map(
    ([pattern], index) => `\n      p${index}: { wire: false, type: string, optional: true, pattern: '${pattern}' }`,
  );
  const list = `\n      many: { wire: false, list: { type: string, pattern: '^(a|b)*a(a|b){200}$' }, optional: true }`;
  world = await ApiWorld.open({
    api: "museum",
    secrets: { token: "demo-token" },
    edit: (text) =>
      text
        .replace(/ {2}HoursQuery:\n {4}fields:/, (start) => start + fields.join("") + list)
        .replace("note: { type: string,", () => String.raw`note: { type: string, pattern: '^(\w+\s?)*$',`),
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const DAY = { museumId: 1, date: "2026-03-02" };

test.each(ATTACKS)(
  "X3: a text that nearly fits the pattern %s stops neither the gateway nor its other callers",
  async (pattern, text) => {
    const field = `p${ATTACKS.findIndex(([each]) => each === pattern)}`;
    const [attacker, other] = await Promise.all([world.caller("ours, modern"), world.caller("ours, legacy")]);
    const attack = attacker.call("opening_hours", { ...DAY, [field]: text });
    expect((await other.tools()).map(({ name }) => name)).toContain("opening_hours");
    const { isError, content } = await attack;
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(`${field}: expected text that matches ${JSON.stringify(pattern)}`);
    expect(world.sent("opening_hours")).toBe(0);
  },
);

test("X3: many texts for a costly pattern are refused together, after a bounded amount of work", async () => {
  const [attacker, other] = await Promise.all([world.caller("ours, modern"), world.caller("ours, legacy")]);
  const many = Array.from({ length: 500 }, () => "ab".repeat(500));
  const attack = attacker.call("opening_hours", { ...DAY, many });
  expect((await other.tools()).map(({ name }) => name)).toContain("opening_hours");
  const { isError, content } = await attack;
  expect(isError).toBe(true);
  expect(content[0]?.text).toContain("too much text to check against the patterns");
  expect(world.sent("opening_hours")).toBe(0);
});

test("X3: an answer that nearly fits a pattern does not stop the gateway, and is returned", async () => {
  const note = `${"a".repeat(40)}!`;
  const [, closed] = world.file.fake.tools["opening_hours"]?.answers ?? [];
  if (closed) closed.give = { note };
  const caller = await world.caller("ours, modern");
  const { structuredContent } = await caller.call("opening_hours", { museumId: 7, date: "2026-05-04" });
  expect(structuredContent).toMatchObject({ note });
  await expect.poll(() => world.output.stderr).toContain("expected text that matches");
});
