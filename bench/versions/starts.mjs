// What it costs to start `nexus serve`, until it listens, and short commands to their end: this version beside another.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { medians, printTable, verdict } from "../client/table.mjs";

const SERVER = fileURLToPath(new URL("../servers/echo-stdio.mjs", import.meta.url));
const SERVERS = { echo: { command: process.execPath, args: [SERVER] } };
/** CPU of this version, at most so many times the other's. */
const GOALS = { serve: 1.3, command: 1.05 };
/** Of the clock that children's CPU is counted in. */
const TICKS_PER_SECOND = 100;

const SUBJECTS = {
  "serve, no servers": { servers: {}, args: ["serve", "--port", "0"], measure: untilListening, goal: GOALS.serve },
  "serve, one stdio server": {
    servers: SERVERS,
    args: ["serve", "--port", "0"],
    measure: untilListening,
    goal: GOALS.serve,
  },
  "--help": { servers: SERVERS, args: ["--help"], measure: toItsEnd, goal: GOALS.command },
  "mcp tools": { servers: SERVERS, args: ["mcp", "tools"], measure: toItsEnd, goal: GOALS.command },
  "mcp call": {
    servers: SERVERS,
    args: ["mcp", "call", "echo.echo", "--arg", "text=hello"],
    measure: toItsEnd,
    goal: GOALS.command,
  },
};

/** `folders`: by label, `now` and `before`. */
export async function compareStarts(folders, { rounds }) {
  const rows = [];
  for (const [name, { servers, args, measure, goal }] of Object.entries(SUBJECTS)) {
    const figures = { now: [], before: [] };
    const homes = {};
    for (const label of Object.keys(figures)) homes[label] = await makeHome(servers);
    // The first start makes the store, and what Node keeps of compiled files.
    for (const label of Object.keys(figures))
      await measure([join(folders[label], "dist/cli/main.js"), ...args], homes[label]);
    for (let round = 0; round < rounds; round++) {
      const labels = Object.keys(figures);
      for (const label of round % 2 === 0 ? labels : labels.toReversed()) {
        figures[label].push(await measure([join(folders[label], "dist/cli/main.js"), ...args], homes[label]));
      }
    }
    for (const home of Object.values(homes)) await rm(home, { recursive: true });
    rows.push({ name, goal, ...summary(figures) });
  }
  print(rows, rounds);
}

async function makeHome(mcpServers) {
  const home = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  await mkdir(join(home, ".nexus"));
  await writeFile(join(home, ".nexus", "mcp.json"), JSON.stringify({ mcpServers }));
  return home;
}

/** Ratios are those of runs that follow each other; CPU in ticks is added up, because a tick is long. */
function summary({ now, before }) {
  const ratios = now.map((each, round) => {
    return { cpu: each.cpuMs / before[round].cpuMs, wall: each.wallMs / before[round].wallMs };
  });
  const total = (figures) => figures.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const isCoarse = now[0].isCoarse;
  const { cpu, wall } = medians(ratios);
  return { now: medians(now), before: medians(before), wall, cpu: isCoarse ? total(now) / total(before) : cpu };
}

async function untilListening(args, home) {
  const startedAt = performance.now();
  const child = start(args, home);
  let output = "";
  for await (const text of child.stdout) {
    output += text;
    if (output.includes("listening on")) break;
  }
  const wallMs = performance.now() - startedAt;
  if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${output}`);
  const cpuMs = cpuOf(child.pid);
  const ended = once(child, "exit");
  child.kill();
  await ended;
  return { wallMs, cpuMs, isCoarse: false };
}

async function toItsEnd(args, home) {
  const before = childrensTicks();
  const startedAt = performance.now();
  const child = start(args, home);
  child.stdout.resume();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  const cpuMs = ((childrensTicks() - before) * 1000) / TICKS_PER_SECOND;
  return { wallMs: performance.now() - startedAt, cpuMs, isCoarse: true };
}

function start(args, home) {
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb" };
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.setEncoding("utf8");
  return child;
}

/** Of all its threads, in milliseconds. */
function cpuOf(pid) {
  const ns = readdirSync(`/proc/${pid}/task`).map((thread) => {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  });
  return ns.reduce((sum, each) => sum + each, 0) / 1e6;
}

function childrensTicks() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

function print(rows, rounds) {
  console.log(`Starts and short commands, this version beside the other; the median of ${rounds} interleaved runs.`);
  console.log(
    "serve: its own process until it listens, on a store that exists. Commands: with their servers, to the end.\n",
  );
  printTable([
    ["", "CPU ms", "", "", "wall ms", "", ""],
    ["", "now", "before", "now / before", "now", "before", "now / before"],
    ...rows.map(({ name, now, before, cpu, wall, goal }) => [
      name,
      now.cpuMs.toFixed(0),
      before.cpuMs.toFixed(0),
      verdict(cpu, "<=", goal),
      now.wallMs.toFixed(0),
      before.wallMs.toFixed(0),
      `${wall.toFixed(2)}x`,
    ]),
  ]);
}
