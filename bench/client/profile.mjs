import { writeFile } from "node:fs/promises";

const TOP = 30;

/** Has a client do its work under the profiler. */
export async function profileWork(client, work, name) {
  await keepProfile(await client.tell("profile", work), name);
}

/** Keeps a profile of so many calls in a file and prints what cost most. */
export async function keepProfile({ profile, calls }, name) {
  const file = `bench-${name}.cpuprofile`;
  await writeFile(file, JSON.stringify(profile));
  console.log(`\n${name}, ${calls} calls; ${file}`);
  console.log(topFunctions(profile, calls));
}

/** The functions of a CPU profile by the time spent in themselves, per call. */
function topFunctions({ nodes, samples, timeDeltas }, calls) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const selfUs = new Map();
  let busyUs = 0;
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    if (functionName === "(idle)" || functionName === "(root)") continue;
    const place = url ? ` ${url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, "")}:${lineNumber + 1}` : "";
    const name = `${functionName || "(anonymous)"}${place}`;
    busyUs += timeDeltas[index];
    selfUs.set(name, (selfUs.get(name) ?? 0) + timeDeltas[index]);
  }
  return [...selfUs]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(
      ([name, us]) =>
        `${(us / calls).toFixed(2).padStart(8)} µs ${((100 * us) / busyUs).toFixed(1).padStart(5)} %  ${name}`,
    )
    .join("\n");
}
