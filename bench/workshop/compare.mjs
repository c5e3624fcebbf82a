// CPU of one call of a tool that was made from a file, beside a bare request with the same payload.
import { startServer, startWorker } from "../client/start.mjs";
import { profileWork } from "../client/profile.mjs";
import { medians, printTable, verdict } from "../client/table.mjs";
import { answerOf, CASES } from "./cases.mjs";
import { VARIANTS } from "./variants.mjs";

const CONCURRENCY = [1, 32];
/** CPU of a call at most so many times the bare request's. */
const GOAL = 2;
const REPEATING = new Set(["bare", "byHand"]);

export async function compareCalls({ quick, profile }) {
  const pace = quick ? { rounds: 3, durationMs: 300, warmUp: 8_000 } : { rounds: 9, durationMs: 600, warmUp: 25_000 };
  const rows = [];
  for (const name of Object.keys(CASES)) rows.push(...(await compareCase(name, pace, profile)));
  print(rows, pace);
}

async function compareCase(name, pace, profile) {
  const server = await startServer("fixed", "http", [name]);
  const workers = [];
  try {
    for (const variant of Object.keys(VARIANTS).toReversed()) {
      const worker = startWorker("../workshop/process", variant, `${variant}, ${name}`);
      workers.unshift({ variant, ...worker });
      // The last ones repeat what the first ones sent.
      const request = REPEATING.has(variant) ? await lastRequest(server.target) : undefined;
      await worker.tell("open", { name, url: server.target, request });
      // Counted in calls: what compiles a function is how often it ran.
      await worker.tell("warmUp", { calls: pace.warmUp, concurrency: 8 });
    }
    const { body } = await answerOf(name);
    const rows = [];
    for (const concurrency of CONCURRENCY) {
      const figures = await measureInTurn(workers, concurrency, pace);
      rows.push({ name, bytes: body.length, concurrency, ...figures });
    }
    if (profile) {
      const work = { command: "measure", argument: { durationMs: 3000, concurrency: 32 } };
      for (const worker of workers) await profileWork(worker, work, `workshop-${name}-${worker.variant}`);
    }
    return rows;
  } finally {
    for (const { close } of workers) await close();
    await server.close();
  }
}

/** Only one works at a time, and who begins changes from round to round. */
async function measureInTurn(workers, concurrency, { rounds, durationMs }) {
  const figures = Object.fromEntries(workers.map(({ variant }) => [variant, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < workers.length; turn++) {
      const { variant, tell } = workers[(round + turn) % workers.length];
      const { cpuUs, perSecond } = await tell("measure", { durationMs, concurrency });
      figures[variant].push({ cpuUs, perSecond });
    }
  }
  return Object.fromEntries(Object.entries(figures).map(([variant, each]) => [variant, medians(each)]));
}

async function lastRequest(url) {
  const response = await fetch(new URL("/last", url));
  const { body, ...request } = await response.json();
  return body === "" ? request : { ...request, body };
}

function print(rows, { rounds }) {
  console.log(
    `One call of a tool of a tool file beside a bare HTTP request with the same payload; the median of ${rounds} interleaved rounds.`,
  );
  console.log(
    "CPU is user + system time of the caller's process; the upstream is another one. By hand: the answer parsed, and written as JSON.\n",
  );
  printTable([
    ["", "", "", "CPU µs a call", "", "", "", "", ""],
    ["answer", "bytes", "at a time", "bare", "by hand", "runner", "client", "runner / bare", "client / bare"],
    ...rows.map(({ name, bytes, concurrency, bare, byHand, runner, client }) => [
      name,
      bytes,
      concurrency,
      ...[bare, byHand, runner, client].map(({ cpuUs }) => cpuUs.toFixed(1)),
      verdict(runner.cpuUs / bare.cpuUs, "<=", GOAL, byHand.cpuUs / bare.cpuUs, "by hand"),
      verdict(client.cpuUs / bare.cpuUs, "<=", GOAL, byHand.cpuUs / bare.cpuUs, "by hand"),
    ]),
  ]);
}
