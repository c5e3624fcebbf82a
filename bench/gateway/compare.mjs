// CPU of one call through a gateway: ours, the least a proxy can do, and others where they are installed.
import { underCeiling } from "../ceilings.mjs";
import { startServer, startWorker } from "../client/start.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";
import { installedPeers, peersFor, startGateway } from "./start.mjs";

const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const CAPABILITIES = { none: {}, declared: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };
const CONNECTIONS = [8, 64];
const BYTES = [64, 16_384];
const WARM_CALLS = 5_000;
const MAX_WARM_UPS = 5;
/** CPU of ours at most so many times the floor's, the better peer's at least so many times ours; and our memory. */
const GOALS = { none: 2, declared: 2.5, peer: 6, rssMb: 90 };

export async function compareGateways({ quick, transport, era }) {
  const pace = quick ? { rounds: 3, durationMs: 300, warmUpMs: 800 } : { rounds: 5, durationMs: 600, warmUpMs: 1500 };
  const rows = [];
  for (const name of ["stdio", "http"].filter((each) => transport === undefined || each === transport)) {
    for (const caller of Object.keys(VERSIONS).filter((each) => era === undefined || each === era)) {
      for (const upstream of Object.keys(VERSIONS)) {
        const group = { transport: name, era: caller, version: VERSIONS[caller], upstream };
        rows.push(...(await compareGroup(group, pace)));
      }
    }
  }
  print(rows, pace);
}

/** All at once, so that the rounds can be interleaved; only one works at a time. */
async function compareGroup(group, pace) {
  const server = await startServer("echo", group.transport, group.upstream === "legacy" ? ["legacy"] : []);
  const isStraight = group.era === group.upstream;
  const gateways = [];
  try {
    for (const variant of ["ours", "floor", ...peersFor(group)]) {
      gateways.push({ variant, ...(await startGateway(variant, { ...group, target: server.target })) });
    }
    const rows = [];
    for (const capabilities of Object.keys(CAPABILITIES)) {
      // Between revisions only the smallest is measured: the rest differs by what is carried.
      for (const connections of isStraight ? CONNECTIONS : CONNECTIONS.slice(0, 1)) {
        for (const bytes of isStraight ? BYTES : BYTES.slice(0, 1))
          rows.push(
            await compareCell(
              { ...group, capabilities, connections, bytes, isFirst: rows.length === 0 },
              gateways,
              pace,
            ),
          );
      }
    }
    return rows;
  } finally {
    for (const { close } of gateways) await close();
    await server.close();
  }
}

async function compareCell(cell, gateways, { rounds, durationMs, warmUpMs }) {
  const { connections, isFirst } = cell;
  const loads = [];
  try {
    for (const { url } of gateways) {
      const load = startWorker("../gateway/load", "load");
      loads.push(load);
      await load.tell("open", { ...cell, url, capabilities: CAPABILITIES[cell.capabilities] });
      await warmUp(load, { durationMs: warmUpMs * (isFirst ? 3 : 1), connections });
    }
    const figures = Object.fromEntries(gateways.map(({ variant }) => [variant, []]));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < gateways.length; turn++) {
        const at = (round + turn) % gateways.length;
        const { variant, usage } = gateways[at];
        const before = await usage();
        const { calls, ms } = await loads[at].tell("run", { durationMs, connections });
        const after = await usage();
        const cpuUs = (after.cpuUs - before.cpuUs) / calls;
        figures[variant].push({ cpuUs, perSecond: (calls / ms) * 1000, rssMb: after.rssBytes / 1e6 });
      }
    }
    const entries = Object.entries(figures).map(([variant, each]) => [variant, medians(each)]);
    return { ...cell, ...Object.fromEntries(entries) };
  } finally {
    for (const { close } of loads) await close();
  }
}

/** A busy machine makes few calls in the usual time, and what has been called so seldom is not compiled yet. */
async function warmUp(load, run) {
  let calls = 0;
  for (let turn = 0; calls < WARM_CALLS && turn < MAX_WARM_UPS; turn++) calls += (await load.tell("run", run)).calls;
}

function print(rows, { rounds }) {
  const peers = installedPeers();
  console.log(
    `One tools/call of an echo tool through a gateway; the median of ${rounds} interleaved rounds, warm-up left out.`,
  );
  console.log(
    "CPU is user + system time of the gateway's process, its server left out. Goals are for the ratio of CPU.\n",
  );
  printTable([
    ["", "", "", "", "", "", "CPU µs a call", "", ...peers.map(() => ""), "RSS MB", "", "", ""],
    [
      "server",
      "",
      "caller",
      "declared",
      "at a time",
      "bytes",
      "ours",
      "floor",
      ...peers,
      "ours",
      "floor",
      "ours / floor",
      "peer / ours",
    ],
    ...rows.map((row) => [
      row.transport,
      row.upstream,
      row.era,
      row.capabilities,
      row.connections,
      row.bytes,
      ...["ours", "floor", ...peers].map((name) => row[name]?.cpuUs.toFixed(1) ?? ""),
      ...["ours", "floor"].map((name) => row[name].rssMb.toFixed(0)),
      besideFloor(row),
      againstPeers(row, peers),
    ]),
  ]);
  const rssMb = Math.max(...rows.map(({ ours }) => ours.rssMb));
  console.log(
    `\nMost memory of ours: ${rssMb.toFixed(0)} MB (goal < ${GOALS.rssMb} MB: ${rssMb < GOALS.rssMb ? "met" : "MISSED"})`,
  );
}

/** Small calls of one revision from end to end are what nothing hides, so they have a ceiling. */
function besideFloor({ ours, floor, transport, era, upstream, capabilities, connections, bytes }) {
  const ratio = ours.cpuUs / floor.cpuUs;
  const isBare = transport === "stdio" && era === upstream && capabilities === "none";
  if (isBare && connections === CONNECTIONS[0] && bytes === BYTES[0]) return underCeiling(`gateway, ${era}`, ratio);
  return verdict(ratio, "<=", GOALS[capabilities]);
}

function againstPeers(row, peers) {
  const measured = peers.map((name) => row[name]?.cpuUs).filter((cpuUs) => cpuUs !== undefined);
  if (measured.length === 0) return "";
  const better = Math.min(...measured);
  return verdict(better / row.ours.cpuUs, ">=", GOALS.peer, better / row.floor.cpuUs);
}
