import { isRecord } from "../json/is-record.ts";
import { nearestName } from "../text/nearest-name.ts";
import { escapePart, placeOf, type Checked, type OutputUnit, type Place } from "./schema-place.ts";
import { nameOf, oneOf, shown, typeOf } from "./schema-words.ts";

const MOST_NAMES = 20;

/** One thing that is wrong with a value. */
export interface SchemaProblem {
  /** A JSON pointer: `/options/limit`; empty for the whole value. */
  path: string;
  /** For people: what was expected, what was found, and the nearest right name. */
  message: string;
}

/** Types by their names, or values; one of them would have been right. */
interface Expected {
  types: readonly string[];
  values: readonly unknown[];
}

/** A problem together with what is needed to weigh it against others. */
interface Finding extends SchemaProblem {
  /** What would have been right here, where that can be named in a few words. */
  expected?: Expected;
}

/** What the validator found, in words. It reports every step on the way to a fault; people want the fault. */
export function problemsIn(units: readonly OutputUnit[], checked: Checked): SchemaProblem[] {
  const seen = new Set<string>();
  const problems = findingsIn(units, checked)
    .map(({ path, message }) => ({ path, message }))
    .filter(({ path, message }) => !seen.has(`${path} ${message}`) && seen.add(`${path} ${message}`));
  return problems.length > 0 ? problems : [{ path: "", message: "the value does not match the schema" }];
}

function findingsIn(units: readonly OutputUnit[], checked: Checked): Finding[] {
  const findings: Finding[] = [];
  for (let index = 0; index < units.length;) {
    const unit = units[index++];
    if (!unit) break;
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const start = index;
      while (index < units.length && isInside(units[index], unit)) index++;
      findings.push(...alternatives(unit, units.slice(start, index), checked));
    } else {
      findings.push(...faults(unit, checked));
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

/** Of several alternatives that all failed, tells about the one that was probably meant. */
function alternatives(unit: OutputUnit, inner: readonly OutputUnit[], checked: Checked): Finding[] {
  const place = placeOf(unit, checked);
  const count = (place.schema[unit.keyword] as unknown[]).length;
  const groups = Array.from({ length: count }, (_, index) => {
    const location = `${unit.keywordLocation}/${index}`;
    const own = inner.filter(({ keywordLocation }) => `${keywordLocation}/`.startsWith(`${location}/`));
    return findingsIn(own, checked);
  });
  const matches = groups.filter((group) => group.length === 0).length;
  if (matches > 0) return [finding(place, `matches ${matches} of ${count} alternatives, must match exactly one`)];

  const here = groups.map((group) => group.find(({ path, expected }) => path === place.path && expected));
  if (here.every((found) => found !== undefined)) {
    return [mismatch(place, merge(here.flatMap(({ expected }) => expected ?? [])))];
  }
  const [best, second] = groups
    .map((group, index) => ({ group, weight: here[index] ? Infinity : weightOf(group) }))
    .sort((a, b) => a.weight - b.weight);
  if (best && best.weight !== second?.weight) return best.group;
  const hint = best?.group[0] ? ` (for example: ${best.group[0].message})` : "";
  return [finding(place, `matches none of the ${count} alternatives${hint}`)];
}

/** A wrong `kind: "circle"` says more about what was not meant than any number of missing members. */
function weightOf(findings: readonly Finding[]): number {
  return findings.reduce((weight, { expected }) => weight + (expected ? 100 : 1), 0);
}

function faults(unit: OutputUnit, checked: Checked): Finding[] {
  const place = placeOf(unit, checked);
  // What is wrong with each item that `contains` looked at is no fault: one that fits is all it takes.
  if (place.isCandidate) return [];
  const { schema, value } = place;
  const size = isRecord(value) ? Object.keys(value).length : (value as { length?: number } | null)?.length;
  const limit = shown(schema[unit.keyword]);
  const expect = (what: string, got: unknown = shown(value)) => [
    finding(place, `expected ${what}, got ${String(got)}`),
  ];
  switch (unit.keyword) {
    case "type":
      return [mismatch(place, { types: [schema["type"] as string | string[]].flat(), values: [] })];
    case "const":
      return [mismatch(place, { types: [], values: [schema["const"]] })];
    case "enum":
      return [mismatch(place, { types: [], values: schema["enum"] as unknown[] })];
    case "required":
      return missing(place, schema["required"] as string[]);
    case "dependentRequired":
      return Object.entries(schema["dependentRequired"] as Record<string, string[]>).flatMap(([name, needed]) =>
        isRecord(value) && Object.hasOwn(value, name) ? missing(place, needed, `, needed beside ${name}`) : [],
      );
    case "not":
      return [place.isForbidden ? forbidden(place) : finding(place, "is what the schema excludes")];
    case "minimum":
      return expect(`at least ${limit}`);
    case "maximum":
      return expect(`at most ${limit}`);
    case "exclusiveMinimum":
      return expect(`more than ${limit}`);
    case "exclusiveMaximum":
      return expect(`less than ${limit}`);
    case "multipleOf":
      return expect(`a multiple of ${limit}`);
    case "minLength":
      return expect(`at least ${limit} characters`, Array.from(value as string).length);
    case "maxLength":
      return expect(`at most ${limit} characters`, Array.from(value as string).length);
    case "pattern":
      return expect(`text that matches ${limit}`);
    case "minItems":
      return expect(`at least ${limit} items`, size);
    case "maxItems":
      return expect(`at most ${limit} items`, size);
    case "minProperties":
      return expect(`at least ${limit} properties`, size);
    case "maxProperties":
      return expect(`at most ${limit} properties`, size);
    case "uniqueItems":
      return [finding(place, "expected no item twice")];
    case "contains":
      return [finding(place, "expected an item of the kind that the schema describes, got none")];
    case "minContains":
      return [finding(place, `expected at least ${limit} items of the kind that the schema describes`)];
    case "maxContains":
      return [finding(place, `expected at most ${limit} items of the kind that the schema describes`)];
    default:
      // A step on the way: the fault itself follows.
      return [];
  }
}

function finding({ path, segments, isName }: Place, text: string): Finding {
  const name = nameOf(segments);
  if (isName) return { path, message: `the name of ${name}: ${text}` };
  return { path, message: name === "" ? text : `${name}: ${text}` };
}

function merge(all: readonly Expected[]): Expected {
  return { types: [...new Set(all.flatMap(({ types }) => types))], values: all.flatMap(({ values }) => values) };
}

/** The value is of another kind altogether. */
function mismatch(place: Place, expected: Expected): Finding {
  const { types, values } = expected;
  const { value } = place;
  // 1.5 is a number as 2 is; only the value shows why it is no integer.
  const showsValue = values.length > 0 || (typeof value === "number" && types.includes("integer"));
  const strings = values.filter((each) => typeof each === "string");
  const near = typeof value === "string" ? nearestName(value, strings) : undefined;
  const hint = near === undefined ? "" : `: did you mean ${shown(near)}?`;
  const got = showsValue ? shown(value) : typeOf(value);
  return { ...finding(place, `expected ${oneOf([...values.map(shown), ...types])}, got ${got}${hint}`), expected };
}

function missing({ path, segments, schema, value }: Place, names: readonly string[], why = ""): Finding[] {
  if (!isRecord(value)) return [];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return names
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => {
      const property: unknown = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const type =
        isRecord(property) && property["type"] !== undefined
          ? ` (${oneOf([property["type"]].flat().map(String))})`
          : "";
      const near = nearestName(name, unknown);
      const hint = near === undefined ? "" : `: is ${near} meant to be it?`;
      return {
        path: `${path}/${escapePart(name)}`,
        message: `missing property ${nameOf([...segments, name])}${type}${why}${hint}`,
      };
    });
}

/** Something stands where the schema says `false`: mostly a property that it does not know. */
function forbidden(place: Place): Finding {
  const { segments, owner, parent } = place;
  const name = segments.at(-1);
  if (!owner || typeof name !== "string" || !isRecord(parent)) return finding(place, "is not allowed");
  const known = isRecord(owner["properties"]) ? Object.keys(owner["properties"]) : [];
  const near = nearestName(
    name,
    known.filter((each) => !Object.hasOwn(parent, each)),
  );
  const isNested = segments.length > 1 && known.length > 0;
  const names = isNested ? `; ${nameOf(segments.slice(0, -1))} takes ${known.slice(0, MOST_NAMES).join(", ")}` : "";
  const hint = near === undefined ? names : `: did you mean ${near}?`;
  return { path: place.path, message: `unknown property ${nameOf(segments)}${hint}` };
}
