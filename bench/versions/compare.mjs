// CPU of a call with this version of the package, beside another one that was built in a folder of its own.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer, startWorker } from "../client/start.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";
import { startGateway } from "../gateway/start.mjs";
import { compareStarts } from "./starts.mjs";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
/** CPU of this version, at most so many times the other's. */
const GOAL = 1.05;
const WARM_CALLS = 20_000;
const MAX_WARM_UPS = 40;

export async function compareVersions({ quick, against, only }) {
  if (against === undefined || !existsSync(join(against, "dist", "index.js"))) {
    console.error("usage: npm run bench -- versions --against FOLDER   (a checkout with its dist/ built)");
    process.exit(2);
  }
  const folders = { now: HERE, before: resolve(against) };
  const pace = quick ? { rounds: 9, durationMs: 200 } : { rounds: 41, durationMs: 200 };
  const chosen = (name) => only === undefined || only === name;
  const rows = [];
  if (chosen("client")) rows.push(...(await compareClients(folders, pace)));
  if (chosen("host")) rows.push(await compareHosts(folders, pace));
  if (chosen("gateway")) rows.push(...(await compareGateways(folders, pace)));
  if (chosen("tool")) rows.push(...(await compareTools(folders, pace)));
  if (rows.length > 0) print(rows, pace);
  if (chosen("start")) await compareStarts(folders, { rounds: quick ? 9 : 31 });
}

async function compareClients(folders, pace) {
  const rows = [];
  for (const transport of ["stdio", "http"]) {
    for (const [era, version] of Object.entries(VERSIONS)) {
      const server = await startServer("echo", transport);
      const target = { subject: "client", entry: entryOf(transport, server.target), version };
      rows.push({ name: `client, ${transport}, ${era}`, ...(await compareWorkers(folders, target, pace)) });
      await server.close();
    }
  }
  return rows;
}

async function compareHosts(folders, pace) {
  const { target } = await startServer("echo", "stdio");
  const opened = { subject: "host", entry: entryOf("stdio", target) };
  return { name: "host, stdio", ...(await compareWorkers(folders, opened, pace)) };
}

async function compareTools(folders, pace) {
  const rows = [];
  for (const name of ["json", "xml"]) {
    const server = await startServer("fixed", "http", [name]);
    const target = { subject: "tool", name, url: server.target };
    rows.push({ name: `tool of a tool file, ${name}`, ...(await compareWorkers(folders, target, pace)) });
    await server.close();
  }
  return rows;
}

async function compareGateways(folders, pace) {
  const rows = [];
  for (const transport of ["stdio", "http"]) {
    for (const [era, version] of Object.entries(VERSIONS)) {
      const server = await startServer("echo", transport, era === "legacy" ? ["legacy"] : []);
      rows.push(
        ...(await compareGateway(folders, { transport, era, version, upstream: era, target: server.target }, pace)),
      );
      await server.close();
    }
  }
  return rows;
}

async function compareGateway(folders, group, pace) {
  const rows = [];
  for (const [declared, capabilities] of Object.entries({ none: {}, all: CAPABILITIES })) {
    const parts = {};
    for (const [label, folder] of Object.entries(folders)) {
      const gateway = await startGateway("ours", { ...group, folder });
      const load = startWorker("../gateway/load", "load");
      const connections = 8;
      await load.tell("open", { ...group, url: gateway.url, capabilities, connections, bytes: 64 });
      const run = async (durationMs) => {
        const before = await gateway.usage();
        const { calls } = await load.tell("run", { durationMs, connections });
        return { cpuUs: ((await gateway.usage()).cpuUs - before.cpuUs) / calls, calls };
      };
      const close = async () => {
        await load.close();
        await gateway.close();
      };
      parts[label] = { run, close };
    }
    rows.push({
      name: `gateway, ${group.transport}, ${group.era}, declares ${declared}`,
      ...(await measure(parts, pace)),
    });
  }
  return rows;
}

async function compareWorkers(folders, target, pace) {
  const parts = {};
  for (const [label, folder] of Object.entries(folders)) {
    const worker = startWorker("../versions/process", folder, label);
    await worker.tell("open", target);
    const run = (durationMs) => worker.tell("measure", { durationMs, concurrency: 8 });
    parts[label] = { run, close: worker.close };
  }
  return measure(parts, pace);
}

/**
 * Counted in calls: what compiles a function is how often it ran. In turns: one that rests while the other is warmed up gets
 * cold again.
 */
async function warmUp(parts, durationMs) {
  for (let turn = 0, fewest = 0; fewest < WARM_CALLS && turn < MAX_WARM_UPS; turn++) {
    const runs = [];
    for (const { run } of parts) runs.push(await run(durationMs * 2));
    fewest += Math.min(...runs.map(({ calls }) => calls));
  }
}

/** Only one works at a time, and who begins changes from round to round. */
async function measure(parts, { rounds, durationMs }) {
  const labels = Object.keys(parts);
  const figures = Object.fromEntries(labels.map((label) => [label, []]));
  try {
    await warmUp(Object.values(parts), durationMs);
    for (let round = 0; round < rounds; round++) {
      for (const label of round % 2 === 0 ? labels : labels.toReversed()) {
        figures[label].push(await parts[label].run(durationMs));
      }
    }
    // Of rounds that follow each other: what else the machine does is then the same for both.
    const ratios = figures.now.map(({ cpuUs }, round) => ({ ratio: cpuUs / figures.before[round].cpuUs }));
    return { now: medians(figures.now).cpuUs, before: medians(figures.before).cpuUs, ...medians(ratios) };
  } finally {
    for (const { close } of Object.values(parts)) await close();
  }
}

function entryOf(transport, target) {
  return transport === "stdio" ? { command: process.execPath, args: target } : { url: target };
}

function print(rows, { rounds }) {
  console.log(
    `CPU of one call, this version beside the other; the median of ${rounds} interleaved rounds, also of their ratios.\n`,
  );
  printTable([
    ["", "CPU µs a call", "", ""],
    ["", "now", "before", "now / before"],
    ...rows.map(({ name, now, before, ratio }) => [
      name,
      now.toFixed(1),
      before.toFixed(1),
      verdict(ratio, "<=", GOAL),
    ]),
  ]);
}
