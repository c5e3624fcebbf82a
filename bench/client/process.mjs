// One client in a process of its own: node process.mjs <ours|sdk|bare>. Opens, measures and profiles when told to.
import { Session } from "node:inspector/promises";

const TEXT = "x".repeat(64);
const variant = process.argv[2];
const { open } = await import(`./${variant}.mjs`);
let client;

const commands = {
  async open(target) {
    client = await open(target);
  },
  measure,
  async profile(work) {
    const session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: 200 });
    await session.post("Profiler.start");
    const figures = await measure(work);
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return { ...figures, profile };
  },
  async close() {
    await client?.close();
  },
};

process.on("message", (message) => void obey(message));

async function obey({ command, argument }) {
  try {
    process.send({ value: await commands[command](argument) });
  } catch (error) {
    process.send({ error: error.stack });
  }
  if (command === "close") process.disconnect();
}

/** Calls for a while, `concurrency` at a time; CPU is all this process used, its garbage collector included. */
async function measure({ durationMs, concurrency }) {
  let calls = 0;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const lane = async () => {
    while (performance.now() - started < durationMs) {
      const result = await client.call(TEXT);
      if (result.content[0].text.length !== TEXT.length) throw new Error("a wrong echo");
      calls++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  return { cpuUs: (user + system) / calls, perSecond: calls / seconds, calls };
}
