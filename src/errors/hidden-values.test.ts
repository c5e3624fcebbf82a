import { inspect } from "node:util";
import { expect, test } from "vitest";
import { HiddenValues } from "./hidden-values.ts";
import { NexusError } from "./nexus-error.ts";

test("P1.9: values are taken out of a text as they are, line by line, and as JSON and addresses write them", () => {
  const hidden = new HiddenValues(["s3cret/+token", "first line\nsecond line", "short", 'quo"ted!']);
  expect(hidden.in("a s3cret/+token b s3cret%2F%2Btoken")).toBe("a ••• b •••");
  expect(hidden.in("> second line <")).toBe("> ••• <");
  expect(hidden.in(JSON.stringify({ a: 'quo"ted!' }))).toBe(`{"a":"•••"}`);
  expect(hidden.in("short")).toBe("short");
});

test("P1.9: a value that comes in two pieces is hidden, and nothing else is lost or held back", () => {
  const pieces = new HiddenValues(["s3cret-token"]).pieces();
  expect([pieces.next("a s3cr"), pieces.next("et-token b\n"), pieces.next("is s3"), pieces.rest()]).toEqual([
    "a ",
    "••• b\n",
    "is ",
    "s3",
  ]);
});

test("P1.9: an error is without the values everywhere, and they cannot be read back", () => {
  const hidden = new HiddenValues(["s3cret-token"]);
  const error = new NexusError("SERVER_EXITED", "It said: s3cret-token", {
    stderr: ["bad s3cret-token"],
    rpc: { code: 1, message: "m", data: { token: "s3cret-token" } },
    cause: new Error("s3cret-token"),
    hint: "h",
  });
  const shown = hidden.inError(error);
  expect(shown).toMatchObject({ code: "SERVER_EXITED", message: "It said: •••", hint: "h" });
  expect(inspect([shown, hidden], { depth: 9, showHidden: true })).not.toContain("s3cret-token");
  expect(JSON.stringify({ hidden })).toBe("{}");
});
