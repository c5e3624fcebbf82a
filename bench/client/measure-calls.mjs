/** Calls for a while, `concurrency` at a time; CPU is all this process used, its garbage collector included. */
export async function measureCalls(call, { durationMs, concurrency }) {
  let calls = 0;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const lane = async () => {
    while (performance.now() - started < durationMs) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const { user, system } = process.cpuUsage(cpu);
  return { cpuUs: (user + system) / calls, perSecond: (calls / (performance.now() - started)) * 1000, calls };
}
