import { Session } from "node:inspector/promises";

/** The figures of a piece of work, and a profile of the CPU while it ran. */
export async function profiled(work) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 200 });
  await session.post("Profiler.start");
  const figures = await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return { ...figures, profile };
}
