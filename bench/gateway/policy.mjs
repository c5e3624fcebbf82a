// CPU of one call through `nexus serve` by callers with keys, out of many in the store, beside the same without keys.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, startWorker } from "../client/start.mjs";
import { keepProfile } from "../client/profile.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";
import { environmentOf, makeStore, NEXUS } from "./key-stores.mjs";
import { questionsTo, USAGE } from "./start.mjs";

const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const AT_A_TIME = [1, 32];
const KEYS = 100_000;
const WARM_CALLS = 20_000;
const MAX_WARM_UPS = 40;
const PROFILED_MS = 3000;
/** CPU with a key at most so many times that without; memory of the process, at most so many megabytes more. */
const GOALS = { cpu: 1.1, rssMb: 10 };

export async function comparePolicies({ quick, profile, transport, era }) {
  const pace = quick ? { rounds: 11, durationMs: 100 } : { rounds: 41, durationMs: 200 };
  pace.isProfiled = profile;
  const folder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  try {
    const startedAt = performance.now();
    const homes = { open: join(folder, "open"), keys: join(folder, "keys") };
    await makeStore(homes.open, 0);
    const key = await makeStore(homes.keys, KEYS);
    console.log(`${KEYS} keys created in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
    const rows = [];
    for (const name of ["stdio", "http"].filter((each) => transport === undefined || each === transport)) {
      for (const caller of Object.keys(VERSIONS).filter((each) => era === undefined || each === era)) {
        rows.push(...(await compareGroup({ transport: name, era: caller, key }, homes, pace)));
      }
    }
    print(rows, pace);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function compareGroup({ transport, era, key }, homes, pace) {
  const server = await startServer("echo", transport, era === "legacy" ? ["legacy"] : []);
  const entry = transport === "stdio" ? { command: process.execPath, args: server.target } : { url: server.target };
  const gateways = {};
  try {
    for (const [variant, home] of Object.entries(homes)) {
      const opened = await startServe(home, { echo: entry }, variant === "keys" ? "keys" : "none");
      gateways[variant] = { ...opened, key: variant === "keys" ? key : undefined };
    }
    const rows = [];
    for (const connections of AT_A_TIME) {
      const cell = { transport, era, version: VERSIONS[era], connections, bytes: 64, capabilities: {} };
      rows.push({ ...cell, ...(await compareCell(cell, gateways, pace)) });
    }
    return rows;
  } finally {
    for (const { close } of Object.values(gateways)) await close();
    await server.close();
  }
}

async function startServe(home, mcpServers, auth) {
  const config = join(home, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers }));
  const args = ["serve", "--port", "0", "--json", "--auth", auth, "--config", config];
  const child = fork(NEXUS, args, { cwd: home, env: environmentOf(home), execArgv: ["--import", USAGE], silent: true });
  child.stderr.resume();
  const [line] = await once(child.stdout, "data");
  return {
    url: JSON.parse(String(line)).url.replace("/mcp", "/servers/echo/mcp"),
    ...questionsTo(child),
    close: async () => {
      const ended = once(child, "exit");
      // A process that is listened to by its parent does not end by itself.
      child.disconnect();
      child.kill();
      await ended;
    },
  };
}

/** Only one works at a time, and who begins changes from round to round. */
async function compareCell(cell, gateways, { rounds, durationMs, isProfiled }) {
  const { connections } = cell;
  const variants = Object.keys(gateways);
  const loads = {};
  try {
    for (const variant of variants) {
      const { url, key } = gateways[variant];
      const load = startWorker("../gateway/load", "load");
      loads[variant] = load;
      await load.tell("open", { ...cell, url, key });
    }
    // In turns: one that rests while the other is warmed up gets cold again.
    for (let turn = 0, fewest = 0; fewest < WARM_CALLS && turn < MAX_WARM_UPS; turn++) {
      const runs = [];
      for (const variant of variants) {
        runs.push(await loads[variant].tell("run", { durationMs: durationMs * 2, connections }));
      }
      fewest += Math.min(...runs.map(({ calls }) => calls));
    }
    const figures = Object.fromEntries(variants.map((variant) => [variant, []]));
    for (let round = 0; round < rounds; round++) {
      for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
        const { usage } = gateways[variant];
        const before = await usage();
        const { calls } = await loads[variant].tell("run", { durationMs, connections });
        const after = await usage();
        figures[variant].push({ cpuUs: (after.cpuUs - before.cpuUs) / calls, rssMb: after.rssBytes / 1e6 });
      }
    }
    for (const variant of isProfiled ? variants : []) {
      const work = () => loads[variant].tell("run", { durationMs: PROFILED_MS, connections });
      const name = `gateway-${variant}-${cell.transport}-${cell.era}-${connections}`;
      await keepProfile(await gateways[variant].profile(work), name);
    }
    const entries = variants.map((variant) => [variant, medians(figures[variant])]);
    // Of rounds that follow each other: what else the machine does is then the same for both.
    const ratios = figures.keys.map(({ cpuUs }, round) => ({ ratio: cpuUs / figures.open[round].cpuUs }));
    return { ...Object.fromEntries(entries), ...medians(ratios) };
  } finally {
    for (const { close } of Object.values(loads)) await close();
  }
}

function print(rows, { rounds }) {
  console.log(
    `One tools/call of an echo tool through nexus serve, with a key of ${KEYS} in the store, and with --auth none;`,
  );
  console.log(
    `the median of ${rounds} interleaved rounds, also of their ratios. CPU is that of the gateway's process, its server left out.\n`,
  );
  printTable([
    ["", "", "", "CPU µs a call", "", "", "RSS MB", ""],
    ["server", "caller", "at a time", "with key", "without", "with / without", "with key", "without"],
    ...rows.map(({ transport, era, connections, keys, open, ratio }) => [
      transport,
      era,
      connections,
      keys.cpuUs.toFixed(1),
      open.cpuUs.toFixed(1),
      verdict(ratio, "<=", GOALS.cpu),
      keys.rssMb.toFixed(0),
      open.rssMb.toFixed(0),
    ]),
  ]);
  const more = Math.max(...rows.map(({ keys, open }) => keys.rssMb - open.rssMb));
  console.log(
    `\nMost memory more with ${KEYS} keys: ${more.toFixed(0)} MB (goal <= ${GOALS.rssMb} MB: ${more <= GOALS.rssMb ? "met" : "MISSED"})`,
  );
}
