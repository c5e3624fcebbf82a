import type { Evidence, SchemaFacts } from "../../api-facts.ts";
import { plainSchema } from "../../inferred-schema.ts";
import { singularWords } from "../words.ts";
import { pathOf, keyOf, type FieldDoubt, type FieldNode, type SampleScalar, type FieldCode } from "./field-node.ts";
import { isPlaceholder, sampleDecimals, scalarType, type SchemaPlace } from "./scalar-type.ts";

const MOST_CODES = 200;
const MOST_ALSO = 4;

/** What is known about a field, as a schema. */
export function nodeSchema(node: FieldNode, place: SchemaPlace): SchemaFacts {
  if (!node.list) return singleSchema(node, place);
  const { minItems, maxItems } = node.limits;
  const items = singleSchema(node, place);
  const { doubt, choices: _choices, description, ...rest } = items;
  return {
    ...basics(node, ["array"], place),
    identity: `${items.identity ?? ""}[]`,
    ...(description === undefined ? {} : { description }),
    ...(doubt === undefined ? {} : { doubt }),
    ...(place.side === "input" && minItems !== undefined ? { minItems } : {}),
    ...(place.side === "input" && maxItems !== undefined ? { maxItems } : {}),
    items: () => rest,
    ...(place.form === "xml" ? { xml: xmlOf(node) } : {}),
  };
}

function singleSchema(node: FieldNode, place: SchemaPlace): SchemaFacts {
  const { form, side } = place;
  if (node.mixed)
    return withDoubt({ ...basics(node, [], place) }, [
      { text: "The sample has a list in a list: any value is taken here." },
    ]);
  if (node.children.size > 0) return objectOf(node, place);
  const { said, limits } = node;
  const type = scalarType(node, place);
  const schema: SchemaFacts = {
    ...basics(node, type.types, place),
    ...(type.format === undefined ? {} : { format: type.format }),
  };
  if (node.description !== undefined) schema.description = node.description;
  if (form === "xml") schema.xml = xmlOf(node);
  const isText = type.types[0] === "string" && type.format === undefined;
  const isNumber = type.types[0] === "integer" || type.types[0] === "number";
  const known = codesOf(node, isNumber);
  if (known.codes) {
    schema.codes = known.codes;
    // Only JSON tells numbers from text.
    if (form !== "json") schema.types = ["string"];
  } else if (known.values) schema.enum = known.values;
  else if (isText && side === "input") {
    const pattern = limits.pattern ?? said.pattern;
    const minLength = limits.minLength ?? said.minLength;
    const maxLength = limits.maxLength ?? said.maxLength;
    const fits = (sample: SampleScalar) =>
      typeof sample !== "string" || pattern === undefined || matches(pattern, sample);
    if (pattern !== undefined && node.samples.every(fits)) schema.pattern = pattern;
    if (minLength !== undefined) schema.minLength = minLength;
    if (maxLength !== undefined) schema.maxLength = maxLength;
  } else if (isNumber && side === "input") {
    const { minimum, maximum = said.maximum, exclusiveMinimum, exclusiveMaximum } = limits;
    Object.assign(schema, defined({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }));
    const decimals = said.decimals ?? (form === "json" ? undefined : sampleDecimals(node));
    if (decimals !== undefined && type.types[0] === "number" && form !== "json") schema.decimals = decimals;
  }
  if (side === "input") {
    const usual = typedValue(node.default, type.types[0]);
    if (usual !== undefined && node.constant === undefined)
      schema.default = known.codes?.find(({ value }) => value === node.default)?.name ?? usual;
    const fixed = typedValue(node.constant, type.types[0]);
    if (fixed !== undefined && schema.codes === undefined)
      Object.assign(schema, { const: fixed, fixed: true, enum: undefined });
  }
  if (node.secret && side === "input") schema.secret = node.secret;
  schema.examples = node.secret ? [] : examplesOf(node, type.types[0]);
  return withDoubt(schema, [...type.doubts, ...node.doubts]);
}

function matches(pattern: string, sample: string): boolean {
  try {
    return new RegExp(pattern, "u").test(sample);
  } catch {
    return false;
  }
}

function objectOf(node: FieldNode, place: SchemaPlace): SchemaFacts {
  const members = new Map<string, SchemaFacts>();
  const required = new Set<string>();
  for (const child of node.children.values()) {
    const member = memberOf(child);
    if (place.side === "input" && isOnlySecrets(child)) continue;
    members.set(member, nodeSchema(child, place));
    if (isRequired(child, place.side)) required.add(member);
  }
  const hasText = place.form === "xml" && (node.samples.length > 0 || isScalar(node.said.type));
  if (hasText) {
    const own = members.has("text") ? "content" : "text";
    const { description: _description, ...value } = singleSchema(
      { ...node, children: new Map(), list: false, doubts: [], codes: [] },
      place,
    );
    members.set(own, {
      ...value,
      identity: `${value.identity ?? ""}/.`,
      xml: { attribute: false, wrapped: false, text: true },
    });
  }
  if (node.parent === undefined && place.side === "input") {
    for (const [member, schema] of innerSecrets(node, place)) {
      members.set(member, schema);
      required.add(member);
    }
  }
  const rules =
    place.side === "input"
      ? node.rules.map((rule) => ({
          ...rule,
          that: rule.that.replaceAll(
            /\{(@?)([^{}]+)\}/g,
            (_, at: string, name: string) =>
              `{${memberOf(node.children.get(at + name) ?? { name, attribute: false })}}`,
          ),
        }))
      : [];
  return withDoubt(
    {
      ...basics(node, ["object"], place),
      ...typeName(node, place),
      ...(node.description === undefined ? {} : { description: node.description }),
      properties: new Map([...members].map(([name, schema]) => [name, () => schema])),
      required,
      ...(place.form === "xml" ? { xml: xmlOf(node) } : {}),
      ...(rules.length === 0 ? {} : { rules }),
    },
    node.doubts,
  );
}

/** Credentials below the top of a body, and what only holds them, are no members of objects that callers give. */
function isOnlySecrets(node: FieldNode): boolean {
  if (node.children.size === 0) return node.secret !== undefined && node.parent?.parent !== undefined;
  return !node.list && [...node.children.values()].every((child) => child.secret !== undefined || isOnlySecrets(child));
}

/** Such credentials as members of the body itself, by their paths. */
function innerSecrets(root: FieldNode, place: SchemaPlace): [member: string, schema: SchemaFacts][] {
  const found: [string, SchemaFacts][] = [];
  const visit = (node: FieldNode, around: readonly FieldNode[]) => {
    if (node.list) return;
    if (node.secret && around.length > 0) {
      const schema = nodeSchema(node, place);
      const within = around.map(({ name }) => ({ name }));
      const xml = schema.xml && { xml: { ...schema.xml, within: [...within] } };
      const steps = [...around.map(({ name }) => name), node.name];
      found.push([place.form === "xml" ? node.name : steps.join("."), { ...schema, ...xml }]);
    }
    for (const child of node.children.values()) visit(child, [...around, node]);
  };
  for (const child of root.children.values()) visit(child, []);
  return found;
}

/** `RoomResult` for the element `room` of an answer. The body of a JSON request has the name of its tool. */
function typeName({ name, parent }: FieldNode, { form, side }: SchemaPlace): Pick<SchemaFacts, "name"> {
  const words = singularWords(name).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  if (words.length === 0 || (form !== "xml" && parent === undefined)) return {};
  const isList = name.endsWith("s") && !words.join("").endsWith("s");
  return { name: `${words.join("")}${isList && form === "xml" ? "List" : ""}${side === "output" ? "Result" : ""}` };
}

/** An attribute may have the name of an element beside it. */
function memberOf(node: { name: string; attribute: boolean; parent?: FieldNode }): string {
  return node.attribute && node.parent?.children.has(node.name) ? `${node.name}Attribute` : node.name;
}

function isScalar(type: string | undefined): boolean {
  return type !== undefined && type !== "object" && type !== "array";
}

function xmlOf(node: FieldNode): NonNullable<SchemaFacts["xml"]> {
  const isOther = node.namespace !== undefined && node.parent !== undefined && node.namespace !== namespaceAbove(node);
  const isRoot = node.parent === undefined && node.namespace !== undefined;
  return {
    name: node.name,
    ...((isOther || isRoot) && node.namespace !== undefined ? { namespace: node.namespace } : {}),
    attribute: node.attribute,
    wrapped: false,
  };
}

function namespaceAbove({ parent }: FieldNode): string | undefined {
  for (let at = parent; at; at = at.parent) if (at.namespace !== undefined) return at.namespace;
  return undefined;
}

function basics(node: FieldNode, types: SchemaFacts["types"], { owner }: SchemaPlace): SchemaFacts {
  const ofCodes = node.codes.map(({ evidence }) => evidence);
  // Codes and limits alone are not where the field is.
  const named = node.isDescribed ? [] : node.shown.slice(0, 1);
  const [first = "", ...others] = joinLines([...new Set([...named, ...node.evidence, ...ofCodes])]);
  const evidence: Evidence = first === "" ? (node.shown[0] ?? evidenceBelow(node) ?? "") : first;
  return {
    ...plainSchema(evidence, types),
    ...(others.length === 0 ? {} : { also: others.slice(0, MOST_ALSO) }),
    identity: `${owner} ${pathText(node)}`,
    nullable: node.said.nullable === true || node.samples.includes(null),
    deprecated: node.deprecated,
  };
}

/** The first place of anything inside of a container that only paths name. */
function evidenceBelow(node: FieldNode): Evidence | undefined {
  for (const child of node.children.values()) {
    const found = child.evidence[0] ?? child.shown[0] ?? evidenceBelow(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a field is always there: tables say it, but an answer without it says the contrary. */
export function isRequired(node: FieldNode, side: "input" | "output"): boolean {
  if (side === "output")
    return (
      node.required === true &&
      (node.parent === undefined || node.parent.contents === 0 || node.presentIn >= node.parent.contents)
    );
  if (node.required !== undefined) return node.required;
  if (node.constant !== undefined) return true;
  return [...node.children.values()].some((child) => isRequired(child, side));
}

function codesOf({ codes, values }: FieldNode, isNumber: boolean): Pick<SchemaFacts, "codes"> & { values?: unknown[] } {
  const isReadable = codes.length > 0 && codes.every(({ value }) => /^[A-Za-z][A-Za-z_ -]{3,}$/.test(value));
  if (isReadable) return { values: codes.slice(0, MOST_CODES).map(({ value }) => value) };
  if (codes.length > 1 && codes.length <= MOST_CODES) return { codes: codeNames(codes) };
  if (values && values.length > 1) {
    if (!isNumber) return { values };
    return values.every((value) => /^-?\d+(?:\.\d+)?$/.test(value)) ? { values: values.map(Number) } : {};
  }
  return {};
}

function typedValue(text: string | undefined, type: string | undefined): string | number | boolean | undefined {
  if (text === undefined) return undefined;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (type !== "integer" && type !== "number") return type === "string" ? text : undefined;
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : undefined;
}

function examplesOf({ samples, examples }: FieldNode, type: string | undefined): unknown[] {
  const given = [
    ...samples.filter((sample) => sample !== null && !isPlaceholder(sample)),
    ...examples.filter((example) => !isPlaceholder(example)),
  ];
  const typed = given.flatMap((value) => typedValue(String(value), type) ?? []);
  return [...new Set(typed)].slice(0, 3);
}

function withDoubt(schema: SchemaFacts, doubts: readonly FieldDoubt[]): SchemaFacts {
  const [first, ...others] = doubts;
  if (!first) return schema;
  const texts = [...new Set(doubts.map(({ text }) => text))];
  const choices = others.length === 0 && schema.types[0] !== "array" ? first.choices : undefined;
  return { ...schema, doubt: texts.slice(0, 3).join(" "), ...(choices ? { choices } : {}) };
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const LINES = /^(.*#L)(\d+)(?:-L(\d+))?$/;

/** Places of which those that follow each other are one: `doc#L404`, `doc#L405` are `doc#L404-L405`. The first stays. */
function joinLines(all: readonly Evidence[]): Evidence[] {
  const [first, ...others] = all;
  if (first === undefined) return [];
  const joined: { prefix: string; from: number; to: number }[] = [];
  const rest: Evidence[] = [];
  for (const evidence of others) {
    const found = LINES.exec(evidence);
    if (!found) {
      if (!rest.includes(evidence)) rest.push(evidence);
      continue;
    }
    const [, prefix = "", from = "", to = from] = found;
    const last = joined.find(
      (each) => each.prefix === prefix && Number(from) >= each.from && Number(from) <= each.to + 1,
    );
    if (last) last.to = Math.max(last.to, Number(to));
    else joined.push({ prefix, from: Number(from), to: Number(to) });
  }
  return [
    first,
    ...joined.map(({ prefix, from, to }) => (from === to ? `${prefix}${from}` : `${prefix}${from}-L${to}`)),
    ...rest,
  ].filter((each, index, list) => list.indexOf(each) === index);
}

/** Readable names for codes: `half_board` for `Half board`. Each name is there once. */
function codeNames(codes: readonly FieldCode[]): NonNullable<SchemaFacts["codes"]> {
  const taken = new Set<string>();
  return codes.map(({ value, meaning, evidence }) => {
    const short = nameOf(shortMeaning(meaning));
    const long = nameOf(meaning);
    const name =
      [short, long, `${short}_${nameOf(value)}`, `code_${nameOf(value)}`].find(
        (each) => /^[a-z]/.test(each) && !taken.has(each),
      ) ?? `code_${value}`;
    taken.add(name);
    return { value, name, ...(meaning === name || meaning === "" ? {} : { description: meaning }), evidence };
  });
}

/** What is before an alternative, a remark or the end of the first sentence. */
function shortMeaning(meaning: string): string {
  const [first = meaning] = meaning.split(
    /\s+(?:or|oder|up to|bis zu|e\.g\.|i\.e\.|which|that|when|if|because|with no|–|—|-)\s|[.,;:(/](?:\s|$|\S)|\s\(/,
  );
  return first.split(/\s+/).length <= 5 ? first : first.split(/\s+/).slice(0, 5).join(" ");
}

function nameOf(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, 48);
}

/** `members/member/@hotel_id` for people. */
function pathText(node: FieldNode): string {
  return pathOf(node)
    .map(keyOf)
    .filter((key) => key !== "")
    .join("/");
}
