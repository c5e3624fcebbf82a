import {
  explain,
  explainMismatch,
  findingAt,
  mergeExpected,
  type SchemaFinding,
  type SchemaProblem,
} from "./explain.ts";
import { locationOf, type OutputUnit, type ValidatorRun } from "./location.ts";

/** Converts the validator's output to problems. It reports every step on the way; only the last one is the problem. */
export function problemsIn(units: readonly OutputUnit[], run: ValidatorRun): SchemaProblem[] {
  const seen = new Set<string>();
  const problems = findingsIn(units, run)
    .map(({ path, message }) => ({ path, message }))
    .filter(({ path, message }) => !seen.has(`${path} ${message}`) && seen.add(`${path} ${message}`));
  return problems.length > 0 ? problems : [{ path: "", message: "the value does not match the schema" }];
}

function findingsIn(units: readonly OutputUnit[], run: ValidatorRun): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  for (let index = 0; index < units.length;) {
    const unit = units[index++];
    if (!unit) break;
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const start = index;
      while (index < units.length && isInside(units[index], unit)) index++;
      findings.push(...alternatives(unit, units.slice(start, index), run));
    } else {
      findings.push(...explain(unit.keyword, locationOf(unit, run)));
    }
  }
  return findings;
}

function isInside(unit: OutputUnit | undefined, outer: OutputUnit): boolean {
  if (!unit?.keywordLocation.startsWith(`${outer.keywordLocation}/`)) return false;
  return (
    unit.instanceLocation === outer.instanceLocation || unit.instanceLocation.startsWith(`${outer.instanceLocation}/`)
  );
}

/** If all alternatives failed, explains the one that was probably meant. */
function alternatives(unit: OutputUnit, inner: readonly OutputUnit[], run: ValidatorRun): SchemaFinding[] {
  const location = locationOf(unit, run);
  const count = (location.schema[unit.keyword] as unknown[]).length;
  const groups = Array.from({ length: count }, (_, index) => {
    const keyword = `${unit.keywordLocation}/${index}`;
    const own = inner.filter(({ keywordLocation }) => `${keywordLocation}/`.startsWith(`${keyword}/`));
    return findingsIn(own, run);
  });
  const matches = groups.filter((group) => group.length === 0).length;
  if (matches > 0) return [findingAt(location, `matches ${matches} of ${count} alternatives, must match exactly one`)];

  const here = groups.map((group) => group.find(({ path, expected }) => path === location.path && expected));
  if (here.every((found) => found !== undefined)) {
    return [explainMismatch(location, mergeExpected(here.flatMap(({ expected }) => expected ?? [])))];
  }
  const [best, second] = groups
    .map((group, index) => ({ group, weight: here[index] ? Infinity : weightOf(group) }))
    .sort((a, b) => a.weight - b.weight);
  if (best && best.weight !== second?.weight) return best.group;
  const hint = best?.group[0] ? ` (for example: ${best.group[0].message})` : "";
  return [findingAt(location, `matches none of the ${count} alternatives${hint}`)];
}

/** A wrong `kind: "circle"` rules out an alternative more than any number of missing members. */
function weightOf(findings: readonly SchemaFinding[]): number {
  return findings.reduce((weight, { expected }) => weight + (expected ? 100 : 1), 0);
}
