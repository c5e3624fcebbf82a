// CPU of one call of a tool on a server of ours beside the official SDK's, arguments and results checked, over stdio.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { underCeiling } from "../ceilings.mjs";
import { median, medians, printTable, verdict } from "../client/table.mjs";

const VARIANTS = ["bare", "ours", "ours, zod", "sdk"];
const ERAS = ["legacy", "modern"];
const CONCURRENCY = [1, 32];
/** A call costs at most so many times the CPU of the same call on a server of the SDK. */
const GOAL = 1 / 3;

const VERSIONS = { legacy: "2025-11-25", modern: "2026-07-28" };

export async function compareServers({ quick, era: only }) {
  const pace = quick ? { rounds: 5, calls: 1_000, warmUp: 5_000 } : { rounds: 25, calls: 2_000, warmUp: 20_000 };
  const rows = [];
  for (const era of ERAS.filter((each) => only === undefined || each === only)) {
    for (const concurrency of CONCURRENCY) rows.push(await compareCalls({ era, concurrency, ...pace }));
  }
  console.log(
    `One call of a tool over stdio, its arguments and its result compared with their schemas; medians of ${pace.rounds} interleaved rounds. CPU is user + system time of the server's process.\n`,
  );
  printTable([
    ["", "", "CPU µs a call", "", "", "", "beside the SDK", ""],
    ["era", "at a time", ...VARIANTS, "ours", "ours, zod"],
    ...rows.map(({ era, concurrency, figures }) => [
      era,
      concurrency,
      ...VARIANTS.map((variant) => medians(figures[variant]).cpuUs.toFixed(1)),
      besideSdk(figures, "ours"),
      besideSdk(figures, "ours, zod"),
    ]),
  ]);
  const worst = Math.max(...rows.map(({ figures }) => ratio(figures, "ours")));
  console.log(`\nours, worst row: ${underCeiling("server, CPU beside the SDK", worst)}`);
}

function besideSdk(figures, variant) {
  return verdict(ratio(figures, variant), "<=", Number(GOAL.toFixed(2)), ratio(figures, "bare"));
}

/** Round by round: the rounds of a busy machine differ more than the variants. */
function ratio(figures, variant) {
  return median(figures[variant].map(({ cpuUs }, round) => cpuUs / figures.sdk[round].cpuUs));
}

async function compareCalls({ era, concurrency, rounds, calls, warmUp }) {
  const servers = Object.fromEntries(VARIANTS.map((variant) => [variant, new Server(variant, era)]));
  try {
    for (const server of Object.values(servers)) {
      await server.open();
      await server.measure(warmUp, 32);
    }
    const figures = Object.fromEntries(VARIANTS.map((variant) => [variant, []]));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < VARIANTS.length; turn++) {
        const variant = VARIANTS[(round + turn) % VARIANTS.length];
        figures[variant].push({ cpuUs: await servers[variant].measure(calls, concurrency) });
      }
    }
    return { era, concurrency, figures };
  } finally {
    for (const server of Object.values(servers)) await server.close();
  }
}

/** A server in a process of its own, and the least client that there can be. */
class Server {
  #child;
  #era;
  #nextId = 0;
  #waiting = new Map();

  constructor(variant, era) {
    this.#era = era;
    const script = fileURLToPath(new URL("process.mjs", import.meta.url));
    this.#child = spawn(process.execPath, [script, variant, era], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface(this.#child.stdout).on("line", (line) => this.#receive(JSON.parse(line)));
  }

  async open() {
    if (this.#era === "modern") return;
    const clientInfo = { name: "bench", version: "1" };
    await this.#request("initialize", { protocolVersion: VERSIONS.legacy, capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  /** CPU of the server for one call, in microseconds. */
  async measure(calls, concurrency) {
    const before = await this.#cpuUs();
    let left = calls;
    const lane = async () => {
      while (left-- > 0) await this.#add(left);
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return ((await this.#cpuUs()) - before) / calls;
  }

  async #add(number) {
    const { structuredContent } = await this.#call("add", { a: number, b: 1, note: "a text of some length" });
    if (structuredContent.sum !== number + 1) throw new Error("The server cannot add");
  }

  async #cpuUs() {
    return (await this.#call("cpu", {})).structuredContent.us;
  }

  #call(name, args) {
    return this.#request("tools/call", { name, arguments: args });
  }

  #request(method, params) {
    const id = ++this.#nextId;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": VERSIONS.modern,
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    this.#send({ id, method, params: this.#era === "modern" ? { ...params, _meta } : params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #receive({ id, result, error }) {
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error || result?.isError) reject?.(new Error(JSON.stringify(error ?? result)));
    else resolve?.(result);
  }

  async close() {
    const ended = once(this.#child, "exit");
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill(), 2_000);
    await ended;
    clearTimeout(late);
  }
}
