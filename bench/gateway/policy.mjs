// CPU of one call through `nexus serve` with what a team needs, beside the same gateway without it.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { underCeiling } from "../ceilings.mjs";
import { startServer, startWorker } from "../client/start.mjs";
import { keepProfile } from "../client/profile.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";
import { environmentOf, makeStore, nexus, NEXUS } from "./key-stores.mjs";
import { questionsTo, USAGE } from "./start.mjs";

const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const AT_A_TIME = [1, 32];
const KEYS = 100_000;
const WARM_CALLS = 20_000;
const MAX_WARM_UPS = 40;
const PROFILED_MS = 3000;
/** Memory of the process with many keys, at most so many megabytes more. */
const MORE_MB = 10;

/**
 * The first one is what the others are compared with. `goal`: CPU of a call at most so many times that of the first;
 * `ceiling`: the name of what it may be where many call at once.
 */
const VARIANTS = {
  open: { title: "without", auth: "none", audit: false, keys: 0 },
  keys: { title: "key, grants", auth: "keys", audit: false, keys: KEYS, goal: 1.1, ceiling: "gateway with a key" },
  full: {
    title: "+ limits, audit",
    auth: "keys",
    audit: true,
    keys: KEYS,
    goal: 1.3,
    ceiling: "gateway with a key, limits and the audit",
  },
  postgres: { title: "+ limits, audit (PostgreSQL)", auth: "keys", audit: true, keys: 1, goal: 1.5 },
};

export async function comparePolicies({ quick, profile, transport, era }) {
  const pace = quick ? { rounds: 11, durationMs: 200 } : { rounds: 41, durationMs: 200 };
  pace.isProfiled = profile;
  const folder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  const postgres = await startPostgres();
  try {
    const names = Object.keys(VARIANTS).filter((name) => name !== "postgres" || postgres.url !== undefined);
    const homes = {};
    for (const name of names) {
      const { keys: count, audit } = VARIANTS[name];
      const home = join(folder, name);
      const database = name === "postgres" ? postgres.url : undefined;
      homes[name] = { home, database, key: await makeStore(home, { count, isLimited: audit, database }) };
    }
    const rows = [];
    for (const name of ["stdio", "http"].filter((each) => transport === undefined || each === transport)) {
      for (const caller of Object.keys(VERSIONS).filter((each) => era === undefined || each === era)) {
        rows.push(...(await compareGroup({ transport: name, era: caller }, homes, pace)));
      }
    }
    print(rows, names, pace);
    for (const name of names.filter((each) => VARIANTS[each].audit)) await checkAudit(name, homes[name]);
  } finally {
    await postgres.close();
    await rm(folder, { recursive: true });
  }
}

/** A PostgreSQL server where the tools of the tests are installed; otherwise without an address. */
async function startPostgres() {
  const program = fileURLToPath(new URL("../../build/fixtures/postgres.js", import.meta.url));
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const child = spawn(process.execPath, [program], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(child.stdout, "data"), ended.then(() => [undefined])]);
  if (line === undefined) console.log("PostgreSQL is not installed: npm ci --prefix test/tools --ignore-scripts\n");
  return {
    url: line === undefined ? undefined : String(line).trim(),
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

async function compareGroup({ transport, era }, homes, pace) {
  const server = await startServer("echo", transport, era === "legacy" ? ["legacy"] : []);
  const entry = transport === "stdio" ? { command: process.execPath, args: server.target } : { url: server.target };
  const gateways = {};
  try {
    for (const [name, home] of Object.entries(homes)) {
      gateways[name] = { ...(await startServe(home, { echo: entry }, VARIANTS[name])), key: home.key };
    }
    const rows = [];
    for (const connections of AT_A_TIME) {
      const cell = { transport, era, version: VERSIONS[era], connections, bytes: 64, capabilities: {} };
      const { figures, calls } = await compareCell(cell, gateways, pace);
      for (const [name, made] of Object.entries(calls)) homes[name].calls = (homes[name].calls ?? 0) + made;
      rows.push({ ...cell, figures });
    }
    return rows;
  } finally {
    for (const { close } of Object.values(gateways)) await close();
    await server.close();
  }
}

async function startServe({ home, database }, mcpServers, { auth, audit }) {
  const config = join(home, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers, gateway: { audit: { enabled: audit } } }));
  const where = database === undefined ? [] : ["--database", database];
  const args = ["serve", "--port", "0", "--json", "--auth", auth, "--config", config, ...where];
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
  const names = Object.keys(gateways);
  const loads = {};
  const calls = Object.fromEntries(names.map((name) => [name, 0]));
  const run = async (name, ms) => {
    const made = await loads[name].tell("run", { durationMs: ms, connections });
    calls[name] += made.calls;
    return made.calls;
  };
  try {
    for (const name of names) {
      const { url, key } = gateways[name];
      const load = startWorker("../gateway/load", "load");
      loads[name] = load;
      await load.tell("open", { ...cell, url, key });
      // It is opened with one call.
      calls[name]++;
    }
    // In turns: one that rests while the others are warmed up gets cold again.
    for (let turn = 0, fewest = 0; fewest < WARM_CALLS && turn < MAX_WARM_UPS; turn++) {
      const made = [];
      for (const name of names) made.push(await run(name, durationMs * 2));
      fewest += Math.min(...made);
    }
    const figures = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const { usage } = gateways[name];
        const before = await usage();
        const made = await run(name, durationMs);
        const after = await usage();
        figures[name].push({ cpuUs: (after.cpuUs - before.cpuUs) / made, rssMb: after.rssBytes / 1e6 });
      }
    }
    for (const name of isProfiled ? names : []) {
      const work = async () => ({ calls: await run(name, PROFILED_MS) });
      await keepProfile(
        await gateways[name].profile(work),
        `gateway-${name}-${cell.transport}-${cell.era}-${connections}`,
      );
    }
    // Of rounds that follow each other: what else the machine does is then the same for all.
    const ratios = (name) => figures[name].map(({ cpuUs }, round) => ({ ratio: cpuUs / figures.open[round].cpuUs }));
    const entries = names.map((name) => [name, { ...medians(figures[name]), ...medians(ratios(name)) }]);
    return { figures: Object.fromEntries(entries), calls };
  } finally {
    for (const { close } of Object.values(loads)) await close();
  }
}

function print(rows, names, { rounds }) {
  const [, ...others] = names;
  console.log(
    `One tools/call of an echo tool through nexus serve: with a key of ${KEYS} in the store, then also with limits and the audit,`,
  );
  console.log(
    `beside --auth none without them; the median of ${rounds} interleaved rounds, also of their ratios. CPU is that of the gateway's process, its server left out.\n`,
  );
  printTable([
    ["", "", "", "CPU µs a call", ...others.map(() => ""), "beside without", ...others.slice(1).map(() => "")],
    [
      "server",
      "caller",
      "at a time",
      ...names.map((name) => VARIANTS[name].title),
      ...others.map((name) => VARIANTS[name].title),
    ],
    ...rows.map(({ transport, era, connections, figures }) => [
      transport,
      era,
      connections,
      ...names.map((name) => figures[name].cpuUs.toFixed(1)),
      ...others.map((name) => {
        const { ceiling, goal } = VARIANTS[name];
        const { ratio } = figures[name];
        return ceiling && connections > 1 ? underCeiling(ceiling, ratio) : verdict(ratio, "<=", goal);
      }),
    ]),
  ]);
  const more = Math.max(...rows.map(({ figures: { keys, open } }) => keys.rssMb - open.rssMb));
  console.log(
    `\nMost memory more with ${KEYS} keys: ${more.toFixed(0)} MB (goal <= ${MORE_MB} MB: ${more <= MORE_MB ? "met" : "MISSED"})`,
  );
}

/** Every call has its record, and the chain is whole. */
async function checkAudit(name, { home, database, calls }) {
  const where = database === undefined ? [] : ["--database", database];
  const { tenants } = JSON.parse(await nexus(home, "audit", "verify", "--json", ...where));
  const [{ records }] = tenants;
  // The command that made the key has a record as well.
  const words = records === calls + 1 ? "every call is in the audit" : "CALLS ARE MISSING IN THE AUDIT";
  console.log(`${VARIANTS[name].title}: ${calls} calls, ${records} records, verified: ${words}`);
}
