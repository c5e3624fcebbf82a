// What a call costs through the host, beside the same call on a client alone, in one process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Host } from "../../dist/index.js";
import { startServer } from "../client/start.mjs";
import { measureCalls } from "../client/measure-calls.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";

const TEXT = "x".repeat(64);
const CONCURRENCY = [1, 32];
/** CPU of a call through the host, at most so many times the client's. */
const GOAL = 1.15;

export async function measureOverhead({ quick }) {
  const pace = quick ? { rounds: 3, durationMs: 100 } : { rounds: 9, durationMs: 500 };
  const stateFolder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  const { target } = await startServer("echo", "stdio");
  const entry = { command: process.execPath, args: target };
  const host = await Host.open({ servers: { echo: entry }, stateFolder });
  const client = await connect(entry);
  await host.ready();
  const tool = await host.getTool("echo.echo");
  const callers = {
    host: () => host.callTool(tool, { text: TEXT }),
    byName: () => host.callTool("echo.echo", { text: TEXT }),
    client: () => client.callTool("echo", { text: TEXT }),
  };
  try {
    const rows = [];
    for (const concurrency of CONCURRENCY) {
      for (const call of Object.values(callers))
        await measureCalls(call, { concurrency, durationMs: pace.durationMs * 2 });
      const figures = Object.fromEntries(Object.keys(callers).map((name) => [name, []]));
      for (let round = 0; round < pace.rounds; round++) {
        for (const [name, call] of Object.entries(callers))
          figures[name].push(await measureCalls(call, { concurrency, durationMs: pace.durationMs }));
      }
      rows.push({
        concurrency,
        ...Object.fromEntries(Object.entries(figures).map(([name, each]) => [name, medians(each)])),
      });
    }
    print(rows, pace);
  } finally {
    await client.close();
    await host.close();
    await rm(stateFolder, { recursive: true });
  }
}

function print(rows, { rounds }) {
  console.log(
    `A call of an echo tool over stdio, through the host and on a client alone; the median of ${rounds} rounds.\n`,
  );
  printTable([
    ["", "CPU µs a call", "", "", "host / client"],
    ["at a time", "host", "by name", "client", ""],
    ...rows.map(({ concurrency, host, byName, client }) => [
      concurrency,
      ...[host, byName, client].map(({ cpuUs }) => cpuUs.toFixed(1)),
      verdict(host.cpuUs / client.cpuUs, "<=", GOAL),
    ]),
  ]);
}
