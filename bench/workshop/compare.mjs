// CPU of one call of a tool that was made from a file, beside a bare request with the same payload and beside the same
// work written by hand.
import { startServer, startWorker } from "../client/start.mjs";
import { profileWork } from "../client/profile.mjs";
import { median, medians, printTable, verdict } from "../client/table.mjs";
import { answerOf, CASES } from "./cases.mjs";
import { VARIANTS } from "./variants.mjs";

const CONCURRENCY = [1, 32];
/** CPU of a call is at most so many times that of the bare request, or of the same work written by hand. */
const GOALS = {
  json: { of: "bare", goal: 2 },
  imported: { of: "bare", goal: 1.8 },
  xml: { of: "byHand", goal: 1.5 },
};

export async function compareCalls({ quick, profile }) {
  // Many short rounds: what else the machine does then hits all variants of a round alike.
  const pace = quick ? { rounds: 25, durationMs: 50, warmUp: 8_000 } : { rounds: 100, durationMs: 60, warmUp: 25_000 };
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
      // It repeats what the others sent.
      const request = variant === "bare" ? await lastRequest(server.target) : undefined;
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
  return Object.fromEntries(Object.entries(figures).map(([variant, each]) => [variant, { ...medians(each), each }]));
}

async function lastRequest(url) {
  const response = await fetch(new URL("/last", url));
  const { body, ...request } = await response.json();
  return body === "" ? request : { ...request, body };
}

function print(rows, { rounds }) {
  console.log(
    `One call of a tool of a tool file beside a bare HTTP request with the same payload and the same work by hand; medians of ${rounds} interleaved rounds; a factor is the median of the factors of each round.`,
  );
  console.log(
    "CPU is user + system time of the caller's process; the upstream is another one. Goals: JSON by the bare request, XML by the work by hand (saxes).",
  );
  console.log(
    "They are for the call itself (runner). The client adds both ends of MCP in the same process, which a bare request does not have: its factor, and what it adds.\n",
  );
  printTable([
    ["", "", "", "CPU µs a call", "", "", "", "", ""],
    ["response", "bytes", "at a time", "bare", "by hand", "runner", "client", "runner", "client"],
    ...rows.map(({ name, bytes, concurrency, ...each }) => [
      name,
      bytes,
      concurrency,
      ...Object.keys(VARIANTS).map((variant) => each[variant].cpuUs.toFixed(1)),
      ratio(name, each, "runner"),
      added(name, each),
    ]),
  ]);
}

function ratio(name, figures, variant) {
  const { of, goal } = GOALS[name];
  return verdict(times(figures, variant, of), "<=", goal, times(figures, "byHand", of), "by hand");
}

function added(name, figures) {
  const { client, runner } = figures;
  const more = median(client.each.map(({ cpuUs }, round) => cpuUs - runner.each[round].cpuUs));
  return `${times(figures, "client", GOALS[name].of).toFixed(2)}x (+${more.toFixed(1)} µs)`;
}

/** Round by round: the rounds of a busy machine differ more than the variants. */
function times(figures, variant, of) {
  return median(figures[variant].each.map(({ cpuUs }, round) => cpuUs / figures[of].each[round].cpuUs));
}
