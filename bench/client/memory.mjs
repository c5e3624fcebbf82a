// What a connection that is open and idle weighs in the client's process, and what a closed one leaves behind.
import { startServer, startWorker } from "./start.mjs";
import { printTable } from "./table.mjs";

const VARIANTS = ["ours", "sdk", "bare"];
const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };

export async function weighConnections({ quick, profile, transport, era }) {
  if (profile) return;
  const count = quick ? 10 : 50;
  const rows = [];
  for (const name of ["stdio", "http"].filter((each) => transport === undefined || each === transport)) {
    for (const [eraName, version] of Object.entries(VERSIONS)) {
      if (era !== undefined && era !== eraName) continue;
      const way = { transport: name, era: eraName, version };
      for (const variant of VARIANTS) rows.push({ ...way, variant, ...(await weigh(variant, way, count)) });
    }
  }
  printWeights(rows, count);
}

async function weigh(variant, way, count) {
  const server = await startServer("echo", way.transport);
  const crowd = startWorker("crowd", variant);
  const target = { ...way, target: server.target };
  try {
    const connect = (howMany) => crowd.tell("connect", { count: howMany, target });
    // The resident set is told by a young process: an old one has pages to reuse and to give back.
    await connect(3);
    const young = await crowd.tell("weigh");
    await connect(count);
    const grown = await crowd.tell("weigh");
    await crowd.tell("disconnect");
    // The heap is told by an old one, which has compiled and cached what it ever will.
    const before = await crowd.tell("weigh");
    await connect(count);
    const open = await crowd.tell("weigh");
    await crowd.tell("disconnect");
    const after = await crowd.tell("weigh");
    const perConnection = (bytes) => bytes / count / 1024;
    return {
      rss: perConnection(grown.rss - young.rss),
      heap: perConnection(open.heapUsed - before.heapUsed),
      left: perConnection(after.heapUsed - before.heapUsed),
    };
  } finally {
    await crowd.close();
    await server.close();
  }
}

function printWeights(rows, count) {
  console.log(`\nMemory of a connection in the client's process, kB, the mean of ${count}, after garbage collection.`);
  console.log(
    "The servers' processes are not counted. No goal; the heap is good to a few kB, the resident set to a hundred.\n",
  );
  printTable([
    ["", "", "", "resident", "heap", "heap left after close"],
    ["transport", "revision", "client", "", "", ""],
    ...rows.map(({ transport, version, variant, rss, heap, left }) => [
      transport,
      version,
      variant,
      ...[rss, heap, left].map((kilobytes) => kilobytes.toFixed(1).padStart(8)),
    ]),
  ]);
}
