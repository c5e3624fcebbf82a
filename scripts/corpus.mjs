// npm run corpus [-- FOLDER] [--compile]
// Imports every API description (OpenAPI, Postman, WSDL, GraphQL) of a folder (default: ../shared/corpus) and prints what
// became of it: operations, tools, what was left out and why, parameters that were lost (counted by a reader that shares no
// code with src), schemas that Ajv does not accept, time and memory. Beside it stands openapi-mcp-generator, if test/tools
// has it. With --compile, Ajv compiles every schema instead of checking it and its references, which takes minutes.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { byReason, compare } from "../test/workshop/corpus/compare.mjs";
import { countOperations, DESCRIPTION } from "../test/workshop/corpus/independent-reader.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { compile: { type: "boolean" } } });
const folder = resolve(positionals[0] ?? join(root, "../shared/corpus"));
const LIMITS = { seconds: 10, megabytes: 1_000, share: 0.95 };
const CHILD_TIMEOUT_MS = 600_000;
const MOST_LINES = 12;

if (!existsSync(folder)) {
  console.log(`There is not a corpus: ${folder} does not exist.`);
  process.exit(0);
}
const importer = await built("test/workshop/corpus/import-main.ts");
const other = join(root, "test/workshop/corpus/other-generator.mjs");
const hasOther = existsSync(join(root, "test/tools/node_modules/openapi-mcp-generator"));
const rows = [];
/** What is wrong, and what is good to know. */
const details = [];
const notes = [];
for (const name of readdirSync(folder).filter((file) => DESCRIPTION.test(file))) {
  const path = join(folder, name);
  const operations = countOperations(path);
  const report = inChild(importer, [path, ...(values.compile ? ["--compile"] : [])]);
  rows.push(row(name, operations, report));
}
print(rows);
show(notes);
show(details);
process.exitCode = details.length === 0 ? 0 : 1;

function row(name, operations, report) {
  if (report.error) {
    details.push(`${name}: ${report.error}`);
    return { document: name, operations: operations.size, tools: "failed" };
  }
  const found = compare(operations, report);
  const share = found.operations === 0 ? 1 : found.made / found.operations;
  if (share < LIMITS.share) details.push(`${name}: only ${percent(share)} of the operations became tools`);
  for (const { operation, reason, detail } of report.omitted.slice(0, 10)) {
    if (reason !== "webhook") notes.push(`${name}: left out ${operation}: ${reason}${detail ? `, ${detail}` : ""}`);
  }
  for (const key of found.unaccounted) details.push(`${name}: ${key} is neither a tool nor left out`);
  for (const lost of found.lost) details.push(`${name}: lost ${lost}`);
  for (const bad of report.badSchemas) details.push(`${name}: schema ${bad}`);
  for (const error of report.errors.slice(0, 20)) details.push(`${name}: error ${error}`);
  if (report.seconds > LIMITS.seconds) details.push(`${name}: took ${report.seconds.toFixed(1)} s`);
  if (report.megabytes > LIMITS.megabytes) details.push(`${name}: took ${report.megabytes.toFixed(0)} MB`);
  return {
    document: name,
    operations: found.operations,
    tools: found.made,
    "%": percent(share),
    "left out": byReason(report.omitted) || "-",
    parameters: found.counted,
    lost: found.lost.length,
    schemas: report.schemas,
    bad: report.badSchemas.length,
    s: report.seconds.toFixed(1),
    MB: report.megabytes.toFixed(0),
    "openapi-mcp-generator": hasOther ? otherCell(join(folder, name), operations) : "not installed",
  };
}

function otherCell(file, operations) {
  if (!/\.(?:ya?ml|json)$/i.test(file)) return "not its format";
  const report = inChild(other, [file]);
  if (report.error) return `fails: ${report.error.slice(0, 40)}`;
  const { made, lost } = compare(operations, report);
  return `${made} tools, ${lost.length} lost, ${report.seconds.toFixed(1)} s, ${report.megabytes.toFixed(0)} MB`;
}

/** The result of a program that prints JSON. */
function inChild(program, args) {
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, [program, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    timeout: CHILD_TIMEOUT_MS,
  });
  if (status !== 0)
    return { error: `${signal ?? `exit ${status}`} ${stderr.trim().split("\n").slice(-6).join(" | ")}`.slice(0, 600) };
  return JSON.parse(stdout);
}

async function built(entry) {
  const bundle = await rolldown({
    input: join(root, entry),
    platform: "node",
    transform: { target: "node20" },
    logLevel: "silent",
  });
  const { output } = await bundle.write({
    dir: join(root, "build/corpus"),
    format: "esm",
    entryFileNames: "[name].mjs",
  });
  await bundle.close();
  return join(root, "build/corpus", output[0].fileName);
}

/** At most a few lines about each document. */
function show(lines) {
  const byDocument = grouped(lines);
  for (const [name, all] of byDocument) {
    for (const line of all.slice(0, MOST_LINES)) console.log(line);
    if (all.length > MOST_LINES) console.log(`${name}: … and ${all.length - MOST_LINES} more`);
  }
}

function grouped(lines) {
  const groups = new Map();
  for (const line of lines) {
    const name = line.split(":", 1)[0];
    groups.set(name, [...(groups.get(name) ?? []), line]);
  }
  return groups;
}

function percent(share) {
  return `${Math.floor(share * 1_000) / 10} %`;
}

function print(table) {
  const columns = Object.keys(table.find((line) => line["%"]) ?? table[0] ?? {});
  const width = (column) => Math.max(column.length, ...table.map((line) => String(line[column] ?? "").length));
  const line = (cells) =>
    `| ${columns.map((column) => String(cells[column] ?? "").padEnd(width(column))).join(" | ")} |`;
  console.log(line(Object.fromEntries(columns.map((column) => [column, column]))));
  console.log(`|${columns.map((column) => "-".repeat(width(column) + 2)).join("|")}|`);
  for (const cells of table) console.log(line(cells));
}
