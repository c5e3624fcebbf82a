// Many clients in a process of their own: node crowd.mjs <ours|bare>. Opens them at once, weighs them, closes them.
import { obey } from "./obey.mjs";

const variant = process.argv[2];
const { open } = await import(`./${variant}.mjs`);
const clients = [];
const SETTLED_BYTES = 4096;

obey({
  /** Until each has its first list of tools. The servers' CPU is what they say themselves. */
  async connect({ count, target }) {
    const started = performance.now();
    const cpu = process.cpuUsage();
    const opened = await Promise.all(Array.from({ length: count }, () => open(target)));
    const { user, system } = process.cpuUsage(cpu);
    const wallMs = performance.now() - started;
    clients.push(...opened);
    return { wallMs, cpuMs: (user + system) / 1000 };
  },
  async serversCpu() {
    const results = await Promise.all(clients.map(({ call }) => call("cpu", {})));
    return results.reduce((sum, { content }) => sum + Number(content[0].text) / 1000, 0);
  },
  /** After garbage was collected until there was no more. */
  async weigh() {
    for (let least = Infinity; ;) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 50));
      const { rss, heapUsed } = process.memoryUsage();
      if (heapUsed > least - SETTLED_BYTES) return { rss, heapUsed };
      least = heapUsed;
    }
  },
  disconnect,
  close: disconnect,
});

async function disconnect() {
  await Promise.all(clients.splice(0).map(({ close }) => close()));
}
