// Counts lines of two programs in the same way: both go through the same formatter, comments and blank lines do not count.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

const require = createRequire(import.meta.url);
const formatter = join(dirname(require.resolve("oxfmt/package.json")), require("oxfmt/package.json").bin.oxfmt);

export function linesOf(file) {
  const args = [formatter, "--stdin-filepath=program.mjs"];
  const text = execFileSync(process.execPath, args, { input: readFileSync(file), encoding: "utf8" });
  return withoutComments(text)
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}

function withoutComments(text) {
  const { comments, program } = parseSync("program.mjs", text);
  const unread = [...comments, ...(program.hashbang ? [program.hashbang] : [])];
  return unread.reduce(
    (left, { start, end }) => left.slice(0, start) + left.slice(start, end).replaceAll(/\S/g, " ") + left.slice(end),
    text,
  );
}
