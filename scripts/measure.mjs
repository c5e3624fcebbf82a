// The size and the shape of src in numbers. `--check` fails where a number is above its ceiling in scripts/ceilings.json,
// `--lower` lowers ceilings to the numbers of today, `--list` prints what one number counts: `--list exportedTwice`.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";
import { reportNumbers } from "./ceilings.mjs";
import { LAYERS } from "./layers.mjs";
import { findStatements, STATEMENT_LABELS } from "./statements.mjs";

/** What each number is, in the order in which they are printed. */
const LABELS = {
  files: "files of src without tests",
  linesOfCode: "lines of code in them, without comments and blank lines",
  exportedNames: "exported names",
  usedByOneFile: "exported names that one other file uses",
  usedOutsideRoom: "exported names that are used outside of their room",
  filesWithOneImporter: "files that one other file of their folder imports, and no other",
  exportedTwice: "names that more than one file exports",
  rankedFolders: "folders with a rank of their own",
  lintRulesBytes: "bytes of .oxlintrc.json",
  ...STATEMENT_LABELS,
};

const counted = measure();
const listAt = process.argv.indexOf("--list");
if (listAt !== -1) console.log([counted[process.argv[listAt + 1]]].flat().join("\n"));
else reportNumbers(Object.fromEntries(Object.entries(counted).map(([name, what]) => [name, numberOf(what)])), LABELS);

/** Numbers, and lists whose lengths are the numbers. */
function measure() {
  const files = new Map(sourceFiles().map((file) => [file, parseFile(file)]));
  const uses = usesOf(files);
  const exported = [...files].flatMap(([file, { names }]) => names.map((name) => `${file}#${name}`));
  const usersOf = (key) => uses.get(key) ?? [];
  const importers = importersOf(files);
  const exporters = new Map();
  for (const key of exported) {
    const name = key.split("#")[1];
    exporters.set(name, [...(exporters.get(name) ?? []), key]);
  }
  return {
    files: files.size,
    linesOfCode: [...files.values()].reduce((sum, { lines }) => sum + lines, 0),
    exportedNames: exported,
    usedByOneFile: exported.filter((key) => usersOf(key).length === 1),
    usedOutsideRoom: exported.filter((key) => usersOf(key).some((user) => room(user) !== room(key))),
    filesWithOneImporter: [...files.keys()].filter((file) => hasOneNeighbour(file, importers.get(file))),
    exportedTwice: [...exporters].flatMap(([name, keys]) => (keys.length > 1 ? [`${name}: ${keys.join(", ")}`] : [])),
    rankedFolders: LAYERS.flat(),
    lintRulesBytes: statSync(".oxlintrc.json").size,
    ...findStatements(files),
  };
}

function numberOf(what) {
  return Array.isArray(what) ? what.length : what;
}

function sourceFiles() {
  return readdirSync("src", { recursive: true })
    .map((file) => join("src", file).replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .sort();
}

/** What a file exports and imports, and how many lines of code it has. */
function parseFile(file) {
  const text = readFileSync(file, "utf8");
  const { program, module, comments } = parseSync(file, text);
  const local = ({ entries }) => entries.filter(({ moduleRequest }) => !moduleRequest);
  const names = module.staticExports.flatMap(local).map(({ exportName }) => exportName.name ?? "default");
  const from = (path) => normalize(join(dirname(file), path)).replaceAll("\\", "/");
  const taken = [
    ...module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName }) => ({ path: moduleRequest.value, name: importName.name ?? "*" })),
    ),
    ...module.staticExports.flatMap(({ entries }) =>
      entries
        .filter(({ moduleRequest }) => moduleRequest)
        .map(({ moduleRequest, importName }) => ({ path: moduleRequest.value, name: importName.name ?? "*" })),
    ),
    ...module.dynamicImports.map(({ moduleRequest }) => ({
      path: text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/["'`]/g, ""),
      name: "*",
    })),
  ].filter(({ path }) => path.startsWith("."));
  return {
    names,
    imports: taken.map(({ path, name }) => ({ file: from(path), name })),
    lines: linesOfCode(text, comments),
    text,
    program,
  };
}

function linesOfCode(text, comments) {
  let rest = "";
  let at = 0;
  for (const { start, end } of comments) {
    rest += text.slice(at, start);
    at = end;
  }
  return (rest + text.slice(at)).split("\n").filter((each) => each.trim() !== "").length;
}

/** The files that use an exported name, by `file#name`. */
function usesOf(files) {
  const uses = new Map();
  const add = (key, user) => uses.set(key, [...new Set([...(uses.get(key) ?? []), user])]);
  for (const [user, { imports }] of files) {
    for (const { file, name } of imports) {
      const all = name === "*" ? (files.get(file)?.names ?? []) : [name];
      for (const each of all) add(`${file}#${each}`, user);
    }
  }
  return uses;
}

function importersOf(files) {
  const importers = new Map();
  for (const [user, { imports }] of files) {
    for (const { file } of imports) importers.set(file, new Set([...(importers.get(file) ?? []), user]));
  }
  return importers;
}

function hasOneNeighbour(file, importers = new Set()) {
  const [importer] = importers;
  return importers.size === 1 && dirname(importer) === dirname(file);
}

/** The first folder below src. */
function room(file) {
  return file.split("/")[1];
}
