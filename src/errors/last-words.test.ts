import { expect, test } from "vitest";
import { lastWords } from "./last-words.ts";

test.each([
  [["Error: no database", "    at main (x.js:1)", "  code: 'E1',", "}", "", "Node.js v22.1.0"], "Error: no database"],
  [["notes: cannot open the file", "notes: giving up"], "notes: giving up"],
  [["bad port", "}"], "bad port"],
  [["Traceback (most recent call last):", "ValueError: bad", "^^^^"], "ValueError: bad"],
  [["Service not ready"], "Service not ready"],
])("of what a process wrote last, the line that says something is chosen: %j (P1.9)", (stderr, words) => {
  expect(lastWords(stderr)).toBe(words);
});

test.each([
  [[]],
  [["}"]],
  [["╭──────────╮", "│          │", "╰──────────╯"]],
  [["Notes MCP Server v1.2 running on stdio"]],
  [["    at main (x.js:1)", "Node.js v22.1.0"]],
  [["npm notice New minor version of npm available!"]],
])("brackets, boxes, frames and greetings are no cause: %j (P1.9)", (stderr) => {
  expect(lastWords(stderr)).toBeUndefined();
});
