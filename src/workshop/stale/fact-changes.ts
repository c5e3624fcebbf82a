import type {
  ApiFacts,
  ContentFacts,
  ErrorFacts,
  OperationFacts,
  ParameterFacts,
  ResponseFacts,
  ServerFacts,
  SchemaFacts,
  Evidence,
} from "../documents/api-facts.ts";
import type { FactChange, TrailStep } from "./comparing.ts";
import { isSameMeaning } from "./same-meaning.ts";

/**
 * What a newer version of a document says differently: by meaning, so the order and the layout of the document do not
 * count. `isUsed` tells which operations matter.
 */
export function factChanges(
  before: ApiFacts,
  after: ApiFacts,
  { document, isUsed }: { document: string; isUsed: (operation: OperationFacts) => boolean },
): FactChange[] {
  const changes: FactChange[] = [];
  const say = (change: FactChange) => void changes.push(change);
  const about = /^(?:openapi|postman)/.test(before.format) ? `${document}#/info` : `${document}#`;
  const whole: Comparing = { trail: [{ kind: "document", evidence: [] }], say };
  compareMembers(before, after, ["title", "version", "description"], { ...whole, at: about });
  compareServers(before.servers, after.servers, whole);
  compareNamed(new Map(Object.entries(before.security)), new Map(Object.entries(after.security)), (name, old, now) => {
    const within = inside(whole, { kind: "security", evidence: old ? [old.evidence] : [], name });
    if (!old || !now) return saySide(old, now, within, ({ kind }) => `${name} (${kind})`);
    // Its description does not come into the file.
    const members = Object.keys({ ...old, ...now }).filter(
      (member) => member !== "evidence" && member !== "description",
    );
    compareMembers(old, now, members, { ...within, at: old.evidence });
  });
  const schemas = new SchemaDifferences();
  const now = new Map(after.operations.map((operation) => [operation.key, operation]));
  const byId = new Map(after.operations.map((operation) => [operation.id, operation]));
  for (const old of before.operations.filter(isUsed)) {
    const trail: TrailStep[] = [...whole.trail, { kind: "operation", evidence: [old.evidence] }];
    const renamed = old.id === undefined ? undefined : byId.get(old.id);
    const next =
      now.get(old.key) ?? (renamed && !before.operations.some(({ key }) => key === renamed.key) ? renamed : undefined);
    if (!next) say({ trail, at: old.evidence, change: "gone", before: old.key });
    else
      schemas.scope(
        () => compareOperations(old, next, { trail, say }, schemas),
        () => changes.length,
      );
  }
  return changes;
}

const OPERATION = [
  "method",
  "path",
  "summary",
  "description",
  "tags",
  "deprecated",
  "effect",
  "timeoutMs",
  "graphql",
] as const;

function compareOperations(
  before: OperationFacts,
  after: OperationFacts,
  to: Comparing,
  schemas: SchemaDifferences,
): void {
  const here = { ...to, at: before.evidence };
  compareMembers(before, after, OPERATION, here);
  compareMember("security", securityOf(before), securityOf(after), here);
  compareMember("rules", rulesOf(before.rules), rulesOf(after.rules), here);
  compareServers(before.servers ?? [], after.servers ?? [], to);
  compareParameters(before.parameters, after.parameters, to, schemas);
  const [body, nextBody] = [before.body, after.body];
  if (body && nextBody) {
    const within = inside(to, { kind: "message", evidence: [body.evidence] });
    compareMembers(body, nextBody, ["required", "description"], { ...within, at: body.evidence });
    compareContents(body.contents, nextBody.contents, within, schemas);
  } else if (body ?? nextBody) {
    saySide(body, nextBody, to, (side) => side.contents.map(({ mediaType }) => mediaType).join(", "));
  }
  compareNamed(
    byName(before.responses, ({ status }) => status),
    byName(after.responses, ({ status }) => status),
    (status, old, now) => {
      if (old && now) compareResponses(old, now, inside(to, { kind: "message", evidence: [old.evidence] }), schemas);
      else
        saySide(old, now, to, ({ description }) => `${status}${description === undefined ? "" : `: ${description}`}`);
    },
  );
  compareErrors(before.errors ?? [], after.errors ?? [], to);
}

/** The order of alternatives and scopes is not a difference. */
function securityOf({ security }: OperationFacts): string[] {
  return security
    .map((each) =>
      each
        .map(({ scheme, scopes }) => `${scheme} ${scopes.toSorted().join(" ")}`.trim())
        .toSorted()
        .join(" and "),
    )
    .toSorted();
}

function compareServers(before: readonly ServerFacts[], after: readonly ServerFacts[], to: Comparing): void {
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [old, now] = [before[index], after[index]];
    const within = inside(to, { kind: "server", evidence: old ? [old.evidence] : [] });
    if (!old || !now) saySide(old, now, within, ({ url }) => url);
    else compareMembers(old, now, ["url", "variables"], { ...within, at: old.evidence });
  }
}

const PARAMETER = ["in", "required", "description", "deprecated", "style", "explode", "constant", "examples"] as const;

function compareParameters(
  before: readonly ParameterFacts[],
  after: readonly ParameterFacts[],
  to: Comparing,
  schemas: SchemaDifferences,
): void {
  const rest = new Set(after);
  const pairs = before.map((old) => {
    const same = after.filter((now) => now.name === old.name && rest.has(now));
    const now =
      same.find((each) => each.in === old.in) ??
      same.find((each) => !before.some((other) => other.name === each.name && other.in === each.in));
    if (now) rest.delete(now);
    return [old, now] as const;
  });
  for (const [old, now] of pairs) {
    const within = inside(to, { kind: "parameter", evidence: [old.evidence], name: old.name });
    if (!now) {
      saySide(old, now, within, ({ name }) => name);
      continue;
    }
    compareMembers(old, now, PARAMETER, { ...within, at: old.evidence });
    schemas.compare(old.schema, now.schema, within);
  }
  for (const now of rest) saySide(undefined, now, to, ({ name, in: where }) => `${name} (${where})`);
}

function compareContents(
  before: readonly ContentFacts[],
  after: readonly ContentFacts[],
  to: Comparing,
  schemas: SchemaDifferences,
): void {
  const key = ({ mediaType }: ContentFacts) => mediaType.toLowerCase().replaceAll(/\s/g, "");
  compareNamed(byName(before, key), byName(after, key), (_, old, now) => {
    const within = inside(to, { kind: "message", evidence: old ? [old.evidence] : [] });
    if (!old || !now) return saySide(old, now, within, ({ mediaType }) => mediaType);
    compareMembers(old, now, ["encoding", "examples"], { ...within, at: old.evidence });
    if (old.schema && now.schema) schemas.compare(old.schema, now.schema, within);
    else saySide(old.schema, now.schema, within, ({ types }) => types.join(", "));
  });
}

function compareResponses(
  before: ResponseFacts,
  after: ResponseFacts,
  to: Comparing,
  schemas: SchemaDifferences,
): void {
  compareMembers(before, after, ["description"], { ...to, at: before.evidence });
  compareContents(before.contents, after.contents, to, schemas);
  const key = ({ name }: { name: string }) => name.toLowerCase();
  compareNamed(byName(before.headers, key), byName(after.headers, key), (name, old, now) => {
    const within = inside(to, { kind: "parameter", evidence: old ? [old.evidence] : [], name });
    if (!old || !now) return saySide(old, now, within, () => name);
    compareMembers(old, now, ["description"], { ...within, at: old.evidence });
    schemas.compare(old.schema, now.schema, within);
  });
}

function compareErrors(before: readonly ErrorFacts[], after: readonly ErrorFacts[], to: Comparing): void {
  const key = ({ status, that }: ErrorFacts) => JSON.stringify([status, that]);
  compareNamed(byName(before, key), byName(after, key), (_, old, now) => {
    const within = inside(to, { kind: "message", evidence: old ? [old.evidence] : [] });
    if (!old || !now) return saySide(old, now, within, ({ say }) => say);
    compareMembers(old, now, ["say", "try"], { ...within, at: old.evidence });
  });
}

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
class SchemaDifferences {
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

/** Something that only one of the documents has. */
function saySide<T extends { evidence: Evidence }>(
  before: T | undefined,
  after: T | undefined,
  { trail, say }: Comparing,
  words: (side: T) => unknown,
): void {
  if (before) say({ trail, at: before.evidence, change: "gone", before: words(before) });
  else if (after) say({ trail, at: after.evidence, change: "new", after: words(after) });
}

function compareMembers(
  before: object,
  after: object,
  members: readonly string[],
  here: Comparing & { at: Evidence },
): void {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const member of members) compareMember(member, old.get(member), now.get(member), here);
}

function compareMember(member: string, before: unknown, after: unknown, here: Comparing & { at: Evidence }): void {
  if (isSameMeaning(before, after)) return;
  const sides = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  here.say({ ...placeOf(here), member, change: "changed", ...sides });
}

function placeOf({ trail, at }: Comparing & { at: Evidence }): Pick<FactChange, "trail" | "at"> {
  return { trail, at };
}

function inside({ trail, say }: Comparing, step: TrailStep): Comparing {
  return { trail: [...trail, step], say };
}

/** Each name of either side, with what the sides have under it. */
function compareNamed<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  compare: (name: string, old: T | undefined, now: T | undefined) => void,
): void {
  for (const name of new Set([...before.keys(), ...after.keys()])) compare(name, before.get(name), after.get(name));
}

/** What has the same name is numbered, so that nothing is left out. */
function byName<T>(all: readonly T[], nameOf: (each: T) => string): Map<string, T> {
  const found = new Map<string, T>();
  for (const each of all) {
    const name = nameOf(each);
    let unique = name;
    for (let more = 2; found.has(unique); more++) unique = `${name} (${more})`;
    found.set(unique, each);
  }
  return found;
}

/** Conditions in words, in any order. */
function rulesOf(rules: readonly { that: string; say: string }[] = []): string[] {
  return rules.map(({ that, say }) => `${that}: ${say}`).toSorted();
}

/** Where something is said, and where its changes go. */
interface Comparing {
  trail: readonly TrailStep[];
  say: (change: FactChange) => void;
}
