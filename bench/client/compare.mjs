// CPU and speed of one small call: our client, the official SDK's and a hand-written minimum, side by side.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { topFunctions } from "./profile.mjs";

const VARIANTS = ["ours", "sdk", "bare"];
const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const CONCURRENCY = [1, 32];
/** CPU of ours at most so many times the bare client's, the SDK's at least so many times ours. */
const GOALS = { stdio: { bare: 1.6, sdk: 3 }, http: { bare: 1.25, sdk: 6 } };

/** `npm run bench -- client [--quick] [--profile] [--transport stdio|http] [--era legacy|modern]` */
export async function compareClients({ quick, profile, transport, era }) {
  const pace = quick ? { rounds: 3, durationMs: 80, warmUpMs: 250 } : { rounds: 5, durationMs: 500, warmUpMs: 1000 };
  const groups = Object.keys(GOALS)
    .filter((name) => transport === undefined || name === transport)
    .flatMap((name) =>
      Object.entries(VERSIONS)
        .filter(([name]) => era === undefined || name === era)
        .map(([era, version]) => ({ transport: name, era, version })),
    );
  if (groups.length === 0) throw new Error("nothing to measure: --transport stdio|http, --era legacy|modern");
  const rows = [];
  for (const group of groups) {
    if (profile) await profileOurs(group, pace);
    else rows.push(...(await compareGroup(group, pace)));
  }
  if (!profile) printTable(rows, pace);
}

/** All three at once, so that the rounds can be interleaved; only one works at a time. */
async function compareGroup(group, pace) {
  const server = await startServer(group.transport);
  const clients = [];
  try {
    for (const variant of VARIANTS) clients.push(await startClient(variant, { ...group, target: server.target }));
    const rows = [];
    for (const concurrency of CONCURRENCY) {
      const figures = Object.fromEntries(VARIANTS.map((variant) => [variant, []]));
      for (const { tell } of clients) await tell("measure", { durationMs: pace.warmUpMs, concurrency });
      for (let round = 0; round < pace.rounds; round++) {
        for (let turn = 0; turn < clients.length; turn++) {
          const { variant, tell } = clients[(round + turn) % clients.length];
          figures[variant].push(await tell("measure", { durationMs: pace.durationMs, concurrency }));
        }
      }
      rows.push({ ...group, concurrency, ...mapValues(figures, medians) });
    }
    return rows;
  } finally {
    for (const { close } of clients) await close();
    await server.close();
  }
}

async function profileOurs(group, pace) {
  const server = await startServer(group.transport);
  const client = await startClient("ours", { ...group, target: server.target });
  try {
    for (const concurrency of CONCURRENCY) {
      await client.tell("measure", { durationMs: pace.warmUpMs, concurrency });
      const { profile, calls, cpuUs } = await client.tell("profile", { durationMs: pace.durationMs * 4, concurrency });
      const file = `bench-${group.transport}-${group.era}-${concurrency}.cpuprofile`;
      await writeFile(file, JSON.stringify(profile));
      console.log(
        `\n${group.transport} ${group.version}, ${concurrency} at a time: ${cpuUs.toFixed(1)} µs a call with the profiler on; ${file}`,
      );
      console.log(topFunctions(profile, calls));
    }
  } finally {
    await client.close();
    await server.close();
  }
}

async function startServer(transport) {
  if (transport === "stdio") {
    return { target: fileURLToPath(new URL("../servers/echo-stdio.mjs", import.meta.url)), close: async () => {} };
  }
  const child = fork(fileURLToPath(new URL("../servers/echo-http.mjs", import.meta.url)), { silent: true });
  const [line] = await once(child.stdout, "data");
  return { target: /http:\S+/.exec(String(line))[0], close: () => stop(child) };
}

async function startClient(variant, target) {
  // The SDK makes Node warn of listeners by the thousand over HTTP; printing that is no cost of a call.
  const execArgv = ["--no-warnings"];
  const child = fork(fileURLToPath(new URL("process.mjs", import.meta.url)), [variant], { execArgv });
  const tell = async (command, argument) => {
    const settled = new AbortController();
    const replied = once(child, "message", settled);
    const ended = once(child, "exit", settled).then(() => [{ error: "its process ended" }]);
    child.send({ command, argument });
    const [reply] = await Promise.race([replied, ended]);
    settled.abort();
    if (reply.error) throw new Error(`${variant}, ${target.transport} ${target.version}: ${reply.error}`);
    return reply.value;
  };
  const close = async () => {
    if (child.connected) await tell("close").catch(() => {});
    await stop(child);
  };
  try {
    await tell("open", target);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { variant, tell, close };
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

function printTable(rows, { rounds }) {
  console.log(
    `One tools/call of an echo tool with 64 bytes; the median of ${rounds} interleaved rounds, warm-up left out.`,
  );
  console.log("CPU is user + system time of the client's process. Goals are for the ratio of CPU.\n");
  const cells = [
    ["", "", "", "CPU µs a call", "", "", "calls a second", "", "", "ours / bare", "sdk / ours"],
    ["transport", "revision", "at a time", "ours", "sdk", "bare", "ours", "sdk", "bare", "", ""],
    ...rows.map(({ transport, version, concurrency, ours, sdk, bare }) => [
      transport,
      version,
      concurrency,
      ...[ours, sdk, bare].map(({ cpuUs }) => cpuUs.toFixed(1)),
      ...[ours, sdk, bare].map(({ perSecond }) => perSecond.toFixed(0)),
      verdict(ours.cpuUs / bare.cpuUs, "<=", GOALS[transport].bare),
      verdict(sdk.cpuUs / ours.cpuUs, ">=", GOALS[transport].sdk, sdk.cpuUs / bare.cpuUs),
    ]),
  ].map((row) => row.map(String));
  const widths = cells[1].map((_, column) => Math.max(...cells.slice(1).map((row) => row[column].length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}

/** `bare` is the same ratio for the bare client: a goal beyond it is out of reach for anyone on this machine. */
function verdict(ratio, relation, goal, bare) {
  const met = relation === "<=" ? ratio <= goal : ratio >= goal;
  const word = met ? "met" : "MISSED";
  return `${ratio.toFixed(2)}x (goal ${relation} ${goal}x: ${word}${!met && bare < goal ? `, bare ${bare.toFixed(2)}x` : ""})`;
}

function medians(figures) {
  return {
    cpuUs: median(figures.map(({ cpuUs }) => cpuUs)),
    perSecond: median(figures.map(({ perSecond }) => perSecond)),
  };
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
