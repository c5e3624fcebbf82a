// One client in a process of its own: node process.mjs <ours|sdk|bare>. Opens, measures and profiles when told to.
import { listAnswers, TOOLS } from "../servers/large.mjs";
import { measureCalls } from "./measure-calls.mjs";
import { obey } from "./obey.mjs";
import { profiled } from "./profiled.mjs";

const TEXT = "x".repeat(64);
const variant = process.argv[2];
const { open } = await import(`./${variant}.mjs`);
let client;
/** What was read or parsed last stays, as it would with a user of the client. */
let last;
let texts;

const commands = {
  async open(target) {
    client = await open(target);
  },
  measure,
  measureList,
  measureResult,
  /** `work` is another command with its argument. */
  profile: (work) => profiled(() => commands[work.command](work.argument)),
  async close() {
    await client?.close();
  },
};
obey(commands);

function measure(settings) {
  return measureCalls(async () => {
    const result = await client.call("echo", { text: TEXT });
    if (result.content[0].text.length !== TEXT.length) throw new Error("a wrong echo");
  }, settings);
}

/** Lists all tools a few times, and then as often does nothing but parse the same text. */
async function measureList({ calls, pageSize }) {
  const listed = await costOf(calls, async () => {
    last = await client.listTools();
    if (last.length !== TOOLS) throw new Error(`${last.length} tools`);
  });
  texts ??= listAnswers(pageSize);
  const parsed = await costOf(calls, async () => {
    last = texts.map((text) => JSON.parse(text));
  });
  return { ...listed, parseCpuMs: parsed.cpuMs, calls };
}

/** Calls a tool whose result has so many bytes. */
async function measureResult({ calls, bytes }) {
  const figures = await costOf(calls, async () => {
    last = await client.call("read", { bytes });
    if (last.content[0].text.length < bytes / 2) throw new Error("a short result");
  });
  return { ...figures, calls };
}

async function costOf(times, run) {
  const started = performance.now();
  const cpu = process.cpuUsage();
  for (let time = 0; time < times; time++) await run();
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1000 / times, wallMs: (performance.now() - started) / times };
}
