// Which requirement is proved by which test: every id claimed in test/requirements.json must be cited in a test's title.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const claimed = JSON.parse(readFileSync("test/requirements.json", "utf8"));
const tests = ["src", "test"].flatMap(testFiles).flatMap(titlesIn);
const rows = Object.entries(claimed).map(([id, requirement]) => {
  return { id, requirement, proofs: tests.filter(({ title }) => cites(title, id)) };
});

if (process.argv.includes("--table")) {
  for (const { id, requirement, proofs } of rows) {
    console.log(`${id}  ${requirement}`);
    for (const { file, title } of proofs) console.log(`      ${title}  (${file})`);
  }
}
const unproved = rows.filter(({ proofs }) => proofs.length === 0);
for (const { id, requirement } of unproved) console.error(`${id} is claimed, but no test cites it: ${requirement}`);
if (unproved.length > 0) process.exit(1);

function testFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
}

function titlesIn(file) {
  const text = readFileSync(file, "utf8");
  const titles = text.matchAll(/\b(?:test|it)(?:\.\w+)*(?:\([^()]*\))?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g);
  return [...titles].map(([, , title]) => ({ file, title }));
}

/** The id as a word of its own: N2, not N20; P1.1, not P1.10. */
function cites(title, id) {
  return new RegExp(`(?<![\\w.])${id.replace(".", "\\.")}(?![\\w]|\\.\\d)`).test(title);
}
