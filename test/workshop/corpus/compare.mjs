// Compares what an importer made of a document with what the independent reader counted.

/** Operations without a tool and without a reason, and parameters that no tool sends. */
export function compare(operations, { tools, omitted }) {
  const byOperation = new Map(tools.map((tool) => [tool.operation, tool]));
  const reasons = new Map(omitted.map(({ operation, reason }) => [operation, reason]));
  const unaccounted = [];
  const lost = [];
  let counted = 0;
  let made = 0;
  for (const [key, operation] of operations) {
    const tool = byOperation.get(key);
    if (!tool && !reasons.has(key)) unaccounted.push(key);
    if (!tool) continue;
    made++;
    const { all, missing } = missingFrom(operation, new Set(tool.sent));
    counted += all;
    lost.push(...missing.map((name) => `${key}: ${name}`));
  }
  return { operations: operations.size, made, counted, lost, unaccounted };
}

/** A body may have several media types: that of the tool is the one that it sends most of. */
function missingFrom({ parameters, bodies }, sent) {
  const missing = parameters.filter((name) => !sent.has(name));
  const choices = [...bodies.values()].map((members) => {
    const names = members.map((name) => `body ${name}`);
    return { all: names.length, missing: names.filter((name) => !sent.has(name)) };
  });
  const [body = { all: 0, missing: [] }] = choices.sort((a, b) => a.missing.length - b.missing.length || b.all - a.all);
  return { all: parameters.length + body.all, missing: [...missing, ...body.missing] };
}

/** `webhook 1, stream 2` */
export function byReason(omitted) {
  const counts = new Map();
  for (const { reason } of omitted) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${reason} ${count}`).join(", ");
}
