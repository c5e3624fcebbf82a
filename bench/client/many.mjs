// Many servers at once: how long connecting takes beside what the servers themselves need.
import { availableParallelism } from "node:os";
import { underCeiling } from "../ceilings.mjs";
import { startServer, startWorker } from "./start.mjs";
import { medians, printTable, verdict } from "./table.mjs";

const WAYS = [
  { name: "2025-11-25, pinned", era: "legacy", version: "2025-11-25" },
  { name: "2026-07-28, pinned", era: "modern", version: "2026-07-28" },
  { name: "probed", era: "modern", version: "2026-07-28", probe: true },
];
/** Wall time at most so many times the servers' own CPU, spread over the cores. */
const GOAL = 1.3;

export async function connectMany({ quick, profile, transport }) {
  if (profile || (transport !== undefined && transport !== "stdio")) return;
  const pace = quick ? { rounds: 1, count: 20 } : { rounds: 5, count: 100 };
  const rows = [];
  for (const way of WAYS) {
    const figures = { ours: [], sdk: [], bare: [] };
    for (let round = 0; round < pace.rounds; round++) {
      for (const variant of Object.keys(figures)) figures[variant].push(await connectOnce(variant, way, pace));
    }
    const [ours, sdk, bare] = [figures.ours, figures.sdk, figures.bare].map(medians);
    rows.push({ ...way, ours, sdk, bare });
  }
  printMany(rows, pace);
}

/** In a new process each time: connecting many happens at the start of a program, not in a warm one. */
async function connectOnce(variant, way, { count }) {
  const { target } = await startServer("echo", "stdio");
  const crowd = startWorker("crowd", variant);
  try {
    const figures = await crowd.tell("connect", { count, target: { transport: "stdio", ...way, target } });
    const serversMs = await crowd.tell("serversCpu");
    const leastMs = serversMs / availableParallelism();
    return { ...figures, serversMs, ratio: figures.wallMs / leastMs };
  } finally {
    await crowd.close();
  }
}

function printMany(rows, { rounds, count }) {
  console.log(
    `\n${count} tiny stdio servers connected at once, each with its first list of tools, from a cold client;`,
  );
  console.log(`the median of ${rounds}. The goal is for wall time beside the servers' own CPU`);
  console.log(`divided by the ${availableParallelism()} cores; neither the SDK nor bare has to probe.\n`);
  printTable([
    ["", "wall ms", "", "", "client's CPU ms", "", "", "ours / SDK", "servers' CPU ms", "wall / servers"],
    ["revision", "ours", "SDK", "bare", "ours", "SDK", "bare", "", "ours", ""],
    ...rows.map(({ name, ours, sdk, bare }) => [
      name,
      ...[ours, sdk, bare].map(({ wallMs }) => wallMs.toFixed(0)),
      ...[ours, sdk, bare].map(({ cpuMs }) => cpuMs.toFixed(0)),
      underCeiling("100 servers, CPU beside the SDK", ours.cpuMs / sdk.cpuMs),
      ours.serversMs.toFixed(0),
      verdict(ours.ratio, "<=", GOAL, bare.ratio),
    ]),
  ]);
}
