// Refuses phrases in the strings of src that do not read as plain English: npm run check:language
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

const PHRASES = [
  [/(?<!\bthere )\b(?:is|are|was) no (?!longer\b|more\b)[a-z]/i, 'write "is not a …"'],
  [/\banew\b/i, 'write "again"'],
  [/\bwhoever\b/i, "name the subject"],
  [/\bnobody\b/i, "name the subject"],
  [/\bunless given\b/, 'write "default: …"'],
  [/\bgiven both\b/, 'write "cannot be used together"'],
  [/, too(?=[.:;]|$)/, 'write "also"'],
  [/(?:^|\n) *(?:do|came|asks for|probably): /, "write fix, received, requires or likely cause"],
];

const found = readdirSync("src", { recursive: true })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => join("src", file))
  .flatMap((file) => offences(file, readFileSync(file, "utf8")));
for (const line of found) console.error(line);
if (found.length > 0) process.exit(1);

function offences(file, source) {
  return sentences(parseSync(file, source).program).flatMap(({ text, start }) =>
    PHRASES.filter(([phrase]) => phrase.test(text)).map(([phrase, advice]) => {
      const line = source.slice(0, start).split("\n").length;
      return `${file}:${line}: ${JSON.stringify(phrase.exec(text)[0])}: ${advice}`;
    }),
  );
}

/** Strings of more than one word. */
function sentences(program) {
  return strings(program).filter(({ text }) => text.trim().includes(" "));
}

function strings(node) {
  if (node === null || typeof node !== "object") return [];
  if (node.type === "Literal" && typeof node.value === "string") return [{ text: node.value, start: node.start }];
  if (node.type === "TemplateElement") return [{ text: node.value.cooked ?? "", start: node.start }];
  return Object.values(node).flatMap(strings);
}
