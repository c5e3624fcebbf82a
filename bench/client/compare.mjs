// CPU and speed of one small call: our client, the official SDK's and a hand-written minimum, side by side.
import { profileWork } from "./profile.mjs";
import { startClient, startServer } from "./start.mjs";
import { medians, printTable, verdict } from "./table.mjs";

const VARIANTS = ["ours", "sdk", "bare"];
const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const CONCURRENCY = [1, 32];
/** CPU of ours at most so many times the bare client's, the SDK's at least so many times ours. */
const GOALS = { stdio: { bare: 1.6, sdk: 3 }, http: { bare: 1.25, sdk: 6 } };

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
  if (!profile) printCalls(rows, pace);
}

/** All three at once, so that the rounds can be interleaved; only one works at a time. */
async function compareGroup(group, pace) {
  const server = await startServer("echo", group.transport);
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
  const server = await startServer("echo", group.transport);
  const client = await startClient("ours", { ...group, target: server.target });
  try {
    for (const concurrency of CONCURRENCY) {
      await client.tell("measure", { durationMs: pace.warmUpMs, concurrency });
      const work = { command: "measure", argument: { durationMs: pace.durationMs * 4, concurrency } };
      await profileWork(client, work, `${group.transport}-${group.era}-${concurrency}`);
    }
  } finally {
    await client.close();
    await server.close();
  }
}

function printCalls(rows, { rounds }) {
  console.log(
    `One tools/call of an echo tool with 64 bytes; the median of ${rounds} interleaved rounds, warm-up left out.`,
  );
  console.log("CPU is user + system time of the client's process. Goals are for the ratio of CPU.\n");
  printTable([
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
  ]);
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
