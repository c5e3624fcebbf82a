// CPU of one small call over HTTP whose token comes from a credential source, beside one with a fixed header.
import { startClient, startServer } from "./start.mjs";
import { medians, printTable, verdict } from "./table.mjs";

const VARIANTS = ["authorized", "fixed-header"];
const VERSIONS = ["2025-11-25", "2026-07-28"];
const CONCURRENCY = [1, 32];
const GOAL = 1.05;

export async function compareAuthorized({ quick }) {
  const pace = quick ? { rounds: 5, durationMs: 100, warmUpMs: 250 } : { rounds: 15, durationMs: 400, warmUpMs: 1000 };
  const server = await startServer("echo", "http");
  const rows = [];
  try {
    for (const version of VERSIONS) rows.push(...(await compareVersion(version, server.target, pace)));
  } finally {
    await server.close();
  }
  print(rows, pace);
}

/** Both at once, so that the rounds can be interleaved; only one works at a time. */
async function compareVersion(version, target, { rounds, durationMs, warmUpMs }) {
  const clients = [];
  try {
    for (const variant of VARIANTS) clients.push(await startClient(variant, { transport: "http", version, target }));
    const rows = [];
    for (const concurrency of CONCURRENCY) {
      const figures = new Map(VARIANTS.map((variant) => [variant, []]));
      for (const { tell } of clients) await tell("measure", { durationMs: warmUpMs, concurrency });
      for (let round = 0; round < rounds; round++) {
        for (let turn = 0; turn < clients.length; turn++) {
          const { variant, tell } = clients[(round + turn) % clients.length];
          figures.get(variant).push(await tell("measure", { durationMs, concurrency }));
        }
      }
      const [authorized, fixed] = VARIANTS.map((variant) => medians(figures.get(variant)));
      rows.push({ version, concurrency, authorized, fixed });
    }
    return rows;
  } finally {
    for (const { close } of clients) await close();
  }
}

function print(rows, { rounds }) {
  console.log(
    `\nOne tools/call over HTTP with a token of OAuth and with a fixed header; the median of ${rounds} rounds.\n`,
  );
  printTable([
    ["", "", "CPU µs a call", "", "calls a second", "", ""],
    ["revision", "at a time", "authorized", "fixed header", "authorized", "fixed header", "authorized / fixed header"],
    ...rows.map(({ version, concurrency, authorized, fixed }) => [
      version,
      concurrency,
      ...[authorized, fixed].map(({ cpuUs }) => cpuUs.toFixed(1)),
      ...[authorized, fixed].map(({ perSecond }) => perSecond.toFixed(0)),
      verdict(authorized.cpuUs / fixed.cpuUs, "<=", GOAL),
    ]),
  ]);
}
