// Ratios to the bare minimum that must not grow: bench/ceilings.json has the most that each may be.
import { readFileSync, writeFileSync } from "node:fs";
import { verdict } from "./client/table.mjs";

const FILE = new URL("ceilings.json", import.meta.url);
const ceilings = JSON.parse(readFileSync(FILE, "utf8"));
const found = new Map();

/** The ratio in words, beside its ceiling. What has none is judged by the goal alone. */
export function underCeiling(name, ratio) {
  found.set(name, Math.max(ratio, found.get(name) ?? 0));
  return verdict(ratio, "<=", ceilings[name]);
}

/**
 * Call it when all was measured: fails where a ratio is above its ceiling, or lowers ceilings to what was measured. A quick
 * run decides nothing: its few rounds differ by more than a change does.
 */
export function settleCeilings({ quick, lower }) {
  if (quick) return;
  if (lower) {
    for (const [name, ratio] of found) ceilings[name] = Math.min(ceilings[name], Math.ceil(ratio * 100) / 100);
    writeFileSync(FILE, `${JSON.stringify(ceilings, null, 2)}\n`);
    return;
  }
  for (const [name, ratio] of found) {
    if (ratio <= ceilings[name]) continue;
    console.error(`${name}: ${ratio.toFixed(2)}, above the ceiling of ${ceilings[name]} in bench/ceilings.json`);
    process.exitCode = 1;
  }
}
