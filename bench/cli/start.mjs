// What a command costs from start to end, its server included: against an empty script, a bare one, and others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { underCeiling } from "../ceilings.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const NEXUS = path("../../dist/cli/main.js");
const SERVER = path("../servers/echo-stdio.mjs");
const PEERS = path("../peers/node_modules");
/** Of the clock that children's CPU is counted in. */
const TICKS_PER_SECOND = 100;

/** CPU: `--help` over an empty script, mcporter's `tools` over ours. Commands over the bare script have ceilings. */
const GOALS = { help: 1.4, mcporter: 4 };

export async function measureCommands({ quick }) {
  const pace = quick ? { rounds: 3, runs: 3 } : { rounds: 7, runs: 10 };
  const home = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  try {
    await mkdir(join(home, ".nexus"));
    const servers = { echo: { command: process.execPath, args: [SERVER] } };
    await writeFile(join(home, ".nexus", "mcp.json"), JSON.stringify({ mcpServers: servers }));
    const peersFile = join(home, "peers.json");
    await writeFile(peersFile, JSON.stringify({ mcpServers: servers }));
    const subjects = subjectsFor(peersFile);
    const figures = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (const [name, args] of Object.entries(subjects)) await run(name, args, home);
    for (let round = 0; round < pace.rounds; round++) {
      for (const [name, args] of Object.entries(subjects)) {
        figures[name].push(await costOf(pace.runs, () => run(name, args, home)));
      }
    }
    report(Object.fromEntries(Object.entries(figures).map(([name, each]) => [name, medians(each)])));
  } finally {
    await rm(home, { recursive: true });
  }
}

function subjectsFor(peersFile) {
  const mcporter = join(PEERS, "mcporter", "dist", "cli.js");
  const inspector = join(PEERS, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js");
  const inspect = [inspector, "--cli", "--config", peersFile, "--server", "echo", "--method"];
  return {
    "empty script": [path("empty.mjs")],
    "nexus --version": [NEXUS, "--version"],
    "nexus --help": [NEXUS, "--help"],
    "bare tools": [path("bare.mjs"), "tools", SERVER],
    "nexus mcp tools": [NEXUS, "mcp", "tools"],
    "bare call": [path("bare.mjs"), "call", SERVER],
    "nexus mcp call": [NEXUS, "mcp", "call", "echo.echo", "--arg", "text=hello"],
    ...(existsSync(mcporter) && {
      "mcporter list": [mcporter, "list", "echo", "--config", peersFile],
      "mcporter call": [mcporter, "call", "echo.echo", "text=hello", "--config", peersFile],
    }),
    ...(existsSync(inspector) && {
      "inspector tools": [...inspect, "tools/list"],
      "inspector call": [...inspect, "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello"],
    }),
  };
}

async function run(name, args, home) {
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb", MCP_INSPECTOR_SECRET_STORE: "memory" };
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${output}`);
  if (/tools|list/.test(name) && !output.includes("echo")) throw new Error(`${name} listed nothing: ${output}`);
}

/** CPU of children, and of theirs, is what the kernel adds up when they are gone. */
async function costOf(times, once) {
  const before = childrensTicks();
  const started = performance.now();
  for (let time = 0; time < times; time++) await once();
  const wallMs = (performance.now() - started) / times;
  return { wallMs, cpuMs: ((childrensTicks() - before) * 1000) / TICKS_PER_SECOND / times };
}

function childrensTicks() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

function report(costs) {
  const ratio = (a, b) => costs[a].cpuMs / costs[b].cpuMs;
  const judged = {
    "nexus --help": () => `of empty: ${verdict(ratio("nexus --help", "empty script"), "<=", GOALS.help)}`,
    "nexus mcp tools": () => `of bare: ${underCeiling("nexus mcp tools", ratio("nexus mcp tools", "bare tools"))}`,
    "nexus mcp call": () => `of bare: ${underCeiling("nexus mcp call", ratio("nexus mcp call", "bare call"))}`,
    "mcporter list": () => `of ours: ${verdict(ratio("mcporter list", "nexus mcp tools"), ">=", GOALS.mcporter)}`,
    "mcporter call": () => `of ours: ${ratio("mcporter call", "nexus mcp call").toFixed(2)}x`,
    "inspector tools": () => `of ours: ${ratio("inspector tools", "nexus mcp tools").toFixed(2)}x`,
    "inspector call": () => `of ours: ${ratio("inspector call", "nexus mcp call").toFixed(2)}x`,
  };
  console.log("\nCommands from start to end, their server's process included; medians.\n");
  printTable([
    ["command", "wall ms", "CPU ms", "CPU"],
    ...Object.entries(costs).map(([name, { wallMs, cpuMs }]) => {
      return [name, wallMs.toFixed(0), cpuMs.toFixed(1), judged[name]?.() ?? ""];
    }),
  ]);
  for (const peer of ["mcporter list", "inspector tools"]) {
    if (!(peer in costs)) console.log(`${peer}: not installed; npm install --prefix bench/peers`);
  }
}
