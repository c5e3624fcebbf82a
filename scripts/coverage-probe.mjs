// Loaded by scripts/walk.mjs into a process whose functions it counts: "count" begins again, "counted" answers what ran
// since then.
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
// From the start: V8 does not count functions that it had already prepared.
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

process.on("message", (order) => {
  if (order === "count" || order === "counted") void answer(order);
});
// A process that has ended its work must not wait for messages.
process.channel?.unref();

async function answer(order) {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  process.send(order === "count" ? { counting: true } : { result });
}
