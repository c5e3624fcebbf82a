// CPU of one small call over HTTP whose token comes from a credential source, beside one with a fixed header. Both clients
// are in this process and work in turns, so that other work on the machine disturbs both alike.
import { connect, MemoryCredentials } from "../../dist/index.js";
import { measureCalls } from "./measure-calls.mjs";
import { startServer } from "./start.mjs";
import { medians, printTable, verdict } from "./table.mjs";

const VERSIONS = ["2025-11-25", "2026-07-28"];
const CONCURRENCY = [1, 32];
const GOAL = 1.05;
const TOKEN = "for-this-benchmark";

export async function compareAuthorized({ quick }) {
  const pace = quick ? { rounds: 15, durationMs: 40, warmUpMs: 250 } : { rounds: 101, durationMs: 50, warmUpMs: 1000 };
  const server = await startServer("echo", "http");
  const rows = [];
  try {
    for (const version of VERSIONS) rows.push(...(await compareVersion(version, server.target, pace)));
  } finally {
    await server.close();
  }
  print(rows, pace);
}

async function compareVersion(protocolVersion, url, pace) {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const storage = await storageWithToken(url);
  const clients = [
    await connect({ url }, { protocolVersion, auth: { storage } }),
    await connect({ url, headers }, { protocolVersion }),
  ];
  try {
    return await compareTurns(clients, protocolVersion, pace);
  } finally {
    for (const client of clients) await client.close();
  }
}

async function compareTurns(clients, protocolVersion, { rounds, durationMs, warmUpMs }) {
  const rows = [];
  for (const concurrency of CONCURRENCY) {
    const figures = clients.map(() => []);
    for (const client of clients) await measure(client, { durationMs: warmUpMs, concurrency });
    for (let round = 0; round < rounds; round++) {
      for (const turn of [round % 2, 1 - (round % 2)]) {
        figures[turn].push(await measure(clients[turn], { durationMs, concurrency }));
      }
    }
    const ratios = figures[0].map(({ cpuUs }, round) => ({ ratio: cpuUs / figures[1][round].cpuUs }));
    rows.push({ protocolVersion, concurrency, figures: figures.map(medians), ...medians(ratios) });
  }
  return rows;
}

function measure(client, settings) {
  return measureCalls(() => client.callTool("echo", { text: "x".repeat(64) }), settings);
}

/** A stored token, which OAuth would renew. */
async function storageWithToken(server) {
  const storage = new MemoryCredentials();
  const [obtainedAt, expiresAt] = [Date.now(), Date.now() + 86_400_000];
  await storage.save({
    server,
    issuer: "https://as.example",
    resource: server,
    client: { clientId: "bench", by: "configuration", authentication: "none" },
    tokens: { accessToken: TOKEN, type: "Bearer", obtainedAt, expiresAt, refreshToken: "never-used" },
    scopes: [],
  });
  return storage;
}

function print(rows, { rounds }) {
  console.log(
    `\nOne tools/call over HTTP with a token of OAuth and with a fixed header; medians of ${rounds} rounds.\n`,
  );
  printTable([
    ["", "", "CPU µs a call", "", "calls a second", "", ""],
    ["revision", "at a time", "authorized", "fixed header", "authorized", "fixed header", "authorized / fixed header"],
    ...rows.map(({ protocolVersion, concurrency, figures, ratio }) => [
      protocolVersion,
      concurrency,
      ...figures.map(({ cpuUs }) => cpuUs.toFixed(1)),
      ...figures.map(({ perSecond }) => perSecond.toFixed(0)),
      verdict(ratio, "<=", GOAL),
    ]),
  ]);
}
