import { expect, test } from "vitest";
import { writeForFile, writeMembersForFile } from "./entry-notation.ts";

const MEMBERS = `"command": "node", "args": ["a \\"b\\": c"], "env": { "A-B": "\${A}" }`;

test.each([
  ["mcp.json", MEMBERS],
  [undefined, MEMBERS],
  ["mcp.yml", `command: "node"\nargs: ["a \\"b\\": c"]\nenv: { A-B: "\${A}" }`],
  ["config.toml", `command = "node"\nargs = ["a \\"b\\": c"]\nenv = { A-B = "\${A}" }`],
])("members of an entry are written as the file %s has them", (file, written) => {
  expect(writeMembersForFile(MEMBERS, file)).toBe(written);
});

test("a sentence keeps everything but the members that it shows", () => {
  const hint = `Set "command" to a program: { "command": "node", "args": ["a.js"] }.`;

  expect(writeForFile(hint, "a.toml")).toBe(`Set "command" to a program: { command = "node", args = ["a.js"] }.`);
  expect(writeForFile(hint, "a.json")).toBe(hint);
});
