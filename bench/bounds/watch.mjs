// Loaded into the processes that are watched: tells its parent the longest turn of the event loop and the most memory since
// it was asked to watch. `parse` is what the same bytes cost JSON.parse.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

const RSS = 0;
const shared = new Int32Array(new SharedArrayBuffer(8));
const KB = 1024;
/** A thread of its own, because a turn that is too long is when memory grows. */
const SAMPLER = `
const { workerData: shared } = require("node:worker_threads");
for (;;) {
  const kb = process.memoryUsage.rss() / 1024;
  if (kb > Atomics.load(shared, 0)) Atomics.store(shared, 0, kb);
  Atomics.wait(shared, 1, 0, 2);
}`;

let timer;
let longestMs = 0;
let startKb = 0;
let last = 0;

const ANSWERS = {
  async watch() {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc?.();
    startKb = process.memoryUsage.rss() / KB;
    Atomics.store(shared, RSS, startKb);
    longestMs = 0;
    last = busyMs();
    timer = setInterval(tick, 1);
    return {};
  },
  watched() {
    tick();
    clearInterval(timer);
    return { longestMs, grownBytes: Math.max(0, Atomics.load(shared, RSS) - startKb) * KB };
  },
  parse({ file }) {
    const bytes = readFileSync(file);
    tick();
    try {
      JSON.parse(bytes.toString("utf8"));
    } catch {
      // Not all that is sent is JSON.
    }
    tick();
    return {};
  },
};

function tick() {
  const now = busyMs();
  longestMs = Math.max(longestMs, now - last);
  last = now;
}

/** Time of this thread on a processor, so that a busy machine does not make turns longer; elsewhere the time that passed. */
function busyMs() {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[0]) / 1e6;
}

process.on("message", (question) => {
  void (async () => {
    const answer = ANSWERS[question.ask];
    if (answer) process.send(await answer(question));
  })();
});
// eslint-disable-next-line no-new
new Worker(SAMPLER, { eval: true, workerData: shared }).unref();
