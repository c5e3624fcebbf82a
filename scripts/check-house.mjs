// The order of the house: folders are small and have a place among the layers, files are worth opening, and one word
// has one meaning.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { LAYERS, mayImport } from "./layers.mjs";

const MAX_FILES = 25;
const MIN_LINES = 20;

const texts = new Map(sourceFiles().map((file) => [file, readFileSync(file, "utf8")]));
const problems = [...folderProblems(), ...orderProblems(), ...smallFileProblems(), ...nameProblems()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

function sourceFiles() {
  return readdirSync("src", { recursive: true })
    .map((file) => join("src", file).replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .sort();
}

function folderProblems() {
  const counts = new Map();
  for (const file of texts.keys()) {
    const folder = folderOf(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const listed = LAYERS.flat();
  return [
    ...[...counts]
      .filter(([, count]) => count > MAX_FILES)
      .map(([folder, count]) => `src/${folder} has ${count} files, more than ${MAX_FILES}: split it by concept.`),
    ...[...counts.keys()]
      .filter((folder) => !listed.includes(folder))
      .map((folder) => `src/${folder} has no place in scripts/layers.mjs: add it to LAYERS.`),
    ...listed
      .filter((folder) => !counts.has(folder))
      .map((folder) => `src/${folder} does not exist: remove it from LAYERS in scripts/layers.mjs.`),
  ];
}

function folderOf(file) {
  return dirname(file).replace(/^src\/?/, "");
}

/** What is loaded by `import()` is joined when it runs, and may stand higher. */
function orderProblems() {
  return [...texts.keys()].flatMap((file) =>
    importsOf(file)
      .filter((target) => !mayImport(folderOf(file), folderOf(target)))
      .map(
        (target) =>
          `${file} imports ${target}: a folder imports only folders that stand before it in scripts/layers.mjs.`,
      ),
  );
}

function importsOf(file) {
  const paths = [...texts.get(file).matchAll(/(?:\bfrom|^import) "(\.[^"]+)";$/gm)].map(([, path]) => path);
  return paths.map((path) => normalize(join(dirname(file), path)).replaceAll("\\", "/"));
}

/** What is loaded by `import()` is a file of its own however small it is. */
function smallFileProblems() {
  const importers = new Map();
  for (const file of texts.keys()) {
    for (const target of importsOf(file)) {
      importers.set(target, new Set([...(importers.get(target) ?? []), file]));
    }
  }
  return [...texts]
    .filter(([file, text]) => text.split("\n").length <= MIN_LINES && !isEntry(file) && importers.get(file)?.size === 1)
    .map(
      ([file]) =>
        `${file} has less than ${MIN_LINES} lines: move it into ${[...importers.get(file)][0]}, its only user.`,
    );
}

function isEntry(file) {
  return ["main.ts", "index.ts"].includes(basename(file));
}

function nameProblems() {
  const declared = new Map();
  for (const [file, text] of texts) {
    // The entry points give public names to what others declare.
    if (basename(file) === "index.ts") continue;
    for (const [, name] of text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)) {
      declared.set(name, [...(declared.get(name) ?? []), file]);
    }
  }
  return [...declared]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name} is declared by ${files.join(" and ")}: one word, one meaning. Rename one.`);
}
