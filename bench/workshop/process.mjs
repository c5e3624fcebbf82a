// One way to make a call, in a process of its own: node process.mjs <bare|runner|client>.
import { obey } from "../client/obey.mjs";
import { measureCalls } from "../client/measure-calls.mjs";
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
  measure: (settings) => measureCalls(() => opened.call(), settings),
  profile: (work) => profiled(() => commands[work.command](work.argument)),
  close: async () => opened?.close(),
};
obey(commands);
