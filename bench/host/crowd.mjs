// Many servers in one host: how long until all are ready, and what an idle one weighs.
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Host } from "../../dist/index.js";
import { startServer } from "../client/start.mjs";
import { printTable, verdict } from "../client/table.mjs";

/** Wall time at most so many times the servers' own CPU, spread over the cores. */
const GOAL = 1.3;

export async function hostMany({ quick }) {
  const count = quick ? 20 : 100;
  const stateFolder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  const { target } = await startServer("echo", "stdio");
  const servers = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`s${index}`, { command: process.execPath, args: target }]),
  );
  globalThis.gc?.();
  const before = process.memoryUsage();
  const started = performance.now();
  const cpu = process.cpuUsage();
  const host = await Host.open({ servers, stateFolder });
  try {
    await host.ready();
    const wallMs = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    const answers = await Promise.all(Object.keys(servers).map((id) => host.callTool(`${id}.cpu`)));
    const serversMs = answers.reduce((sum, { content }) => sum + Number(content[0].text) / 1000, 0);
    globalThis.gc?.();
    const after = process.memoryUsage();
    console.log(`\n${count} stdio servers in one host, from a cold start to ready.\n`);
    printTable([
      ["wall ms", "host's CPU ms", "servers' CPU ms", "kB a server", "wall / servers"],
      [
        wallMs.toFixed(0),
        ((user + system) / 1000).toFixed(0),
        serversMs.toFixed(0),
        ((after.rss - before.rss) / 1024 / count).toFixed(0),
        verdict(wallMs / (serversMs / availableParallelism()), "<=", GOAL),
      ],
    ]);
  } finally {
    await host.close();
    await rm(stateFolder, { recursive: true });
  }
}
