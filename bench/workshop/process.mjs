// One way to make a call, in a process of its own: node process.mjs <bare|runner|client>.
import { obey } from "../client/obey.mjs";
import { profiled } from "../client/profiled.mjs";
import { VARIANTS } from "./variants.mjs";

let opened;

const commands = {
  async open({ name, ...target }) {
    opened = await VARIANTS[process.argv[2]](name, target);
  },
  async warmUp({ calls, concurrency }) {
    let left = calls;
    const lane = async () => {
      while (left-- > 0) await opened.call();
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
  },
  /** CPU is all this process used, its garbage collector included. */
  async measure({ durationMs, concurrency }) {
    let calls = 0;
    const started = performance.now();
    const cpu = process.cpuUsage();
    const lane = async () => {
      while (performance.now() - started < durationMs) {
        await opened.call();
        calls++;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    const { user, system } = process.cpuUsage(cpu);
    return { cpuUs: (user + system) / calls, perSecond: (calls / (performance.now() - started)) * 1000, calls };
  },
  profile: (work) => profiled(() => commands[work.command](work.argument)),
  close: async () => opened?.close(),
};
obey(commands);
