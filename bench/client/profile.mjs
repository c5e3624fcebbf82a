const TOP = 30;

/** The functions of a CPU profile by the time spent in themselves, per call. */
export function topFunctions({ nodes, samples, timeDeltas }, calls) {
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
