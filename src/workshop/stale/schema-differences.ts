import type { SchemaFacts } from "../documents/api-facts.ts";
import {
  byName,
  compareMember,
  compareMembers,
  compareNamed,
  inside,
  rulesOf,
  saySide,
  type Comparing,
} from "./comparing.ts";

const MEMBERS = [
  "name",
  "nullable",
  "title",
  "description",
  "format",
  "const",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "fixed",
  "decimals",
  "hidden",
  "secret",
  "inside",
] as const;

/** Schemas of messages nest deeply only where they are hostile. */
const MAX_DEPTH = 400;

/** Compares schemas, each pair once for each operation; what is the same everywhere is not compared again. */
export class SchemaDifferences {
  readonly #same = new Set<string>();
  #seen = new Set<string>();

  /** Compares the schemas of one operation. `count` is the number of differences that were found. */
  scope(compare: () => void, count: () => number): void {
    this.#seen = new Set();
    const before = count();
    compare();
    if (count() === before) for (const pair of this.#seen) this.#same.add(pair);
  }

  /** `part`: which part it is of what has the same name, such as the items of a list. */
  compare(before: SchemaFacts, after: SchemaFacts, to: Comparing, part = ""): void {
    const pair = pairOf(before, after, to, part);
    if (this.#same.has(pair) || this.#seen.has(pair) || to.trail.length > MAX_DEPTH) return;
    this.#seen.add(pair);
    const { evidence, usedAt, also = [] } = before;
    const within = inside(to, {
      kind: "schema",
      evidence: [evidence, ...(usedAt === undefined ? [] : [usedAt]), ...also],
    });
    let isFound = false;
    const noted: Comparing = {
      ...within,
      say: (change) => {
        isFound = true;
        to.say(change);
      },
    };
    this.#members(before, after, noted);
    this.#parts(before, after, noted);
    // What no other member holds.
    if (!isFound && before.others.length + after.others.length > 0) {
      compareMember(before.others.concat(after.others)[0] ?? "", before.asJsonSchema(), after.asJsonSchema(), {
        ...noted,
        at: evidence,
      });
    }
  }

  #members(before: SchemaFacts, after: SchemaFacts, to: Comparing): void {
    const here = { ...to, at: before.evidence };
    compareMembers(before, after, MEMBERS, here);
    compareMember("type", before.types.toSorted(), after.types.toSorted(), here);
    compareMember("enum", sorted(before.enum), sorted(after.enum), here);
    compareMember("rules", rulesOf(before.rules), rulesOf(after.rules), here);
    compareMember("codes", codesOf(before), codesOf(after), here);
    compareMember("xml", xmlOf(before), xmlOf(after), here);
    const exclusive = ({ exclusive = [] }: SchemaFacts) =>
      exclusive
        .map(({ members, isRequired }) => `${members.toSorted().join(" or ")}${isRequired ? ", required" : ""}`)
        .toSorted();
    compareMember("exclusive", exclusive(before), exclusive(after), here);
    const kindOf = ({ additional }: SchemaFacts) => (typeof additional === "string" ? additional : "described");
    compareMember("additionalProperties", kindOf(before), kindOf(after), here);
    // The order of elements is that of the document.
    if (before.xml && !before.xml.attribute) {
      const kept = (one: SchemaFacts, other: SchemaFacts) =>
        [...one.properties.keys()].filter((name) => other.properties.has(name));
      compareMember("order", kept(before, after), kept(after, before), here);
    }
    const valuesOf = ({ discriminator }: SchemaFacts) =>
      discriminator && [discriminator.property, ...Object.keys(discriminator.mapping).toSorted()];
    compareMember("discriminator", valuesOf(before), valuesOf(after), here);
  }

  #parts(before: SchemaFacts, after: SchemaFacts, to: Comparing): void {
    compareNamed(before.properties, after.properties, (name, old, now) => {
      const [schema, next] = [old?.(), now?.()];
      const within = inside(to, { kind: "schema", evidence: [], name });
      if (!schema || !next) return saySide(schema, next, within, () => name);
      const [was, is] = [before.required.has(name), after.required.has(name)];
      compareMember("required", was, is, { ...within, at: schema.usedAt ?? schema.evidence });
      this.compare(schema, next, within);
    });
    for (const name of new Set([...before.required, ...after.required])) {
      if (before.properties.has(name) || after.properties.has(name)) continue;
      compareMember(`required ${name}`, before.required.has(name), after.required.has(name), {
        ...to,
        at: before.evidence,
      });
    }
    this.#both(before.items?.(), after.items?.(), to, "items");
    for (const list of ["prefixItems", "allOf", "oneOf", "anyOf"] as const) {
      const [old, now] = [before[list], after[list]].map((all) =>
        byName(
          all.map((read) => read()),
          ({ name }) => name ?? "",
        ),
      );
      if (old && now) compareNamed(old, now, (name, schema, next) => this.#both(schema, next, to, `${list} ${name}`));
    }
    const [more, moreNow] = [before.additional, after.additional];
    if (typeof more === "function" && typeof moreNow === "function") this.compare(more(), moreNow(), to, "others");
  }

  #both(before: SchemaFacts | undefined, after: SchemaFacts | undefined, to: Comparing, part: string): void {
    if (before && after) this.compare(before, after, to, part);
    else saySide(before, after, to, ({ name, types }) => name ?? types.join(", "));
  }
}

/** What two schemas are compared as. One line can have several: then their names and parts tell them apart. */
function pairOf(before: SchemaFacts, after: SchemaFacts, { trail }: Comparing, part: string): string {
  const ids = [before, after].map(({ identity, evidence }) => identity ?? evidence);
  const isOfLines = before.identity === undefined && /#L\d/.test(before.evidence);
  const name = isOfLines ? trail.findLast((step) => step.name !== undefined)?.name : undefined;
  return JSON.stringify(isOfLines ? [...ids, name, part] : ids);
}

function sorted(values: readonly unknown[] | undefined): unknown[] | undefined {
  return values?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function codesOf({ codes }: SchemaFacts): unknown {
  return codes
    ?.map(({ value, name, description }) => `${value} ${name}${description === undefined ? "" : `: ${description}`}`)
    .toSorted();
}

/** The prefix of a namespace says nothing. */
function xmlOf({ xml }: SchemaFacts): unknown {
  return xml && { ...xml, prefix: undefined };
}
