import type { Evidence, SchemaFacts } from "../../api-facts.ts";
import { childrenOf, qnameIn, qnameOf, XSD, type QName, type XmlNode } from "../xml-nodes.ts";
import { described, documentationOf, isEncoding, type SchemaPart, type SchemaSet } from "./schema-set.ts";

/** A single value: its type, its limits and where they are. */
export interface SimpleFacts extends Partial<SchemaFacts> {
  types: SchemaFacts["types"];
  /** The places of its limits. */
  places: Evidence[];
  doubts: string[];
  /** Runs of blanks mean one blank. */
  collapses?: true;
  /** Values separated by blanks: limits of its length count them. */
  isList?: true;
}

const WHOLE: Readonly<Record<string, { minimum?: number; maximum?: number; format?: string }>> = {
  byte: { minimum: -128, maximum: 127 },
  short: { minimum: -32_768, maximum: 32_767 },
  int: { minimum: -2_147_483_648, maximum: 2_147_483_647 },
  long: { format: "int64" },
  integer: { format: "int64" },
  nonNegativeInteger: { minimum: 0, format: "int64" },
  positiveInteger: { minimum: 1, format: "int64" },
  nonPositiveInteger: { maximum: 0, format: "int64" },
  negativeInteger: { maximum: -1, format: "int64" },
  unsignedByte: { minimum: 0, maximum: 255 },
  unsignedShort: { minimum: 0, maximum: 65_535 },
  unsignedInt: { minimum: 0, maximum: 4_294_967_295 },
  unsignedLong: { minimum: 0, format: "int64" },
};

const TEXTS: Readonly<Record<string, Partial<SchemaFacts>>> = {
  dateTime: { format: "date-time" },
  dateTimeStamp: { format: "date-time" },
  date: { format: "date" },
  time: { format: "time" },
  duration: { format: "duration" },
  anyURI: { format: "uri" },
  base64Binary: { format: "base64" },
  hexBinary: { pattern: "^(?:[0-9A-Fa-f]{2})*$" },
  gYear: { pattern: "^-?[0-9]{4,}(?:Z|[+-][0-9]{2}:[0-9]{2})?$" },
  gYearMonth: { pattern: "^-?[0-9]{4,}-[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2})?$" },
};

/** Texts without line ends and without blanks at their ends. */
const COLLAPSED = new Set("token language NMTOKEN NMTOKENS Name NCName ID IDREF IDREFS ENTITY QName".split(" "));

const LIST = { collapses: true, isList: true } as const;

/** The facts of a built-in type; text for one that is not known. */
function builtInFacts(name: string): SimpleFacts {
  const none = { places: [], doubts: [] };
  if (name === "boolean") return { types: ["boolean"], ...none };
  if (name === "decimal" || name === "float" || name === "double") return { types: ["number"], ...none };
  const whole = Object.hasOwn(WHOLE, name) ? WHOLE[name] : undefined;
  if (whole) return { types: ["integer"], ...whole, ...none };
  const collapses = COLLAPSED.has(name) ? { collapses: true as const } : {};
  return { types: ["string"], ...(Object.hasOwn(TEXTS, name) ? TEXTS[name] : {}), ...collapses, ...none };
}

const MAX_DEPTH = 30;
const MAX_ENUM = 2_000;

/** Reads simple types with the types that they restrict. */
export class SimpleTypes {
  readonly #schemas: SchemaSet;
  readonly #placeOf: (node: XmlNode) => Evidence;
  /** Types that were read: unions of unions would be read again for each of their members. */
  readonly #known = new Map<XmlNode, SimpleFacts>();

  constructor(schemas: SchemaSet, placeOf: (node: XmlNode) => Evidence) {
    this.#schemas = schemas;
    this.#placeOf = placeOf;
  }

  /** The type that an element or attribute has: `type`, or the simpleType inside it. */
  named(name: QName | undefined, depth = 0): SimpleFacts {
    if (!name || depth > MAX_DEPTH) return builtInFacts("string");
    const part = this.#schemas.find("simpleType", name);
    if (part) return this.#once(part, depth + 1);
    const complex = this.#schemas.find("complexType", name);
    if (complex) return this.#ofSimpleContent(complex, depth + 1);
    // Without a prefix the built-in type is meant, whatever the default namespace is.
    const isBuiltIn = name.namespace === XSD || name.namespace === "" || isEncoding(name.namespace);
    return builtInFacts(isBuiltIn ? name.name : "string");
  }

  #once(part: SchemaPart, depth: number): SimpleFacts {
    const known = this.#known.get(part.node);
    if (known) return known;
    const facts = this.read(part, depth);
    this.#known.set(part.node, facts);
    return facts;
  }

  read({ node, schema }: SchemaPart, depth = 0): SimpleFacts {
    if (depth > MAX_DEPTH) return builtInFacts("string");
    const [kind] = childrenOf(node, XSD, "restriction", "list", "union");
    if (kind?.name === "list") {
      const description = documentationOf(node);
      const text = `${description === undefined ? "" : `${description} `}Values, separated by blanks.`;
      return { types: ["string"], places: [this.#placeOf(kind)], doubts: [], ...LIST, description: text };
    }
    if (kind?.name === "union") return { ...this.#union(kind, { node, schema }, depth), ...described(node) };
    if (!kind) return builtInFacts("string");
    return { ...this.restricted(kind, { node, schema }, depth), ...described(node) };
  }

  /** A restriction: the facts of its base with its facets. */
  restricted(restriction: XmlNode, part: SchemaPart, depth = 0): SimpleFacts {
    const [inline] = childrenOf(restriction, XSD, "simpleType");
    const base = inline
      ? this.read({ node: inline, schema: part.schema }, depth + 1)
      : this.named(qnameIn(restriction, "base"), depth + 1);
    return this.#withFacets(base, restriction);
  }

  #ofSimpleContent({ node, schema }: SchemaPart, depth: number): SimpleFacts {
    const [content] = childrenOf(node, XSD, "simpleContent");
    const [derivation] = content ? childrenOf(content, XSD, "extension", "restriction") : [];
    if (!derivation) return builtInFacts("string");
    return this.restricted(derivation, { node, schema }, depth);
  }

  #union(union: XmlNode, { schema }: SchemaPart, depth: number): SimpleFacts {
    const names = (union.attributes.get("memberTypes") ?? "").split(/\s+/).filter((name) => name !== "");
    const members = [
      ...names.slice(0, 50).map((name) => this.named(qnameOf(union, name), depth + 1)),
      ...childrenOf(union, XSD, "simpleType").map((inline) => this.read({ node: inline, schema }, depth + 1)),
    ];
    const places = [this.#placeOf(union), ...members.flatMap((member) => member.places)].slice(0, 20);
    const values = [...new Set(members.flatMap((member) => member.enum ?? []).map(String))].slice(0, MAX_ENUM);
    if (members.length > 0 && members.every((member) => member.enum)) {
      return { types: ["string"], enum: values, places, doubts: [] };
    }
    const doubt = "The document allows values of several types here: they are text.";
    return { types: ["string"], places, doubts: members.length > 1 ? [doubt] : [] };
  }

  #withFacets(base: SimpleFacts, node: XmlNode): SimpleFacts {
    const facts: SimpleFacts = { ...base, places: [...base.places], doubts: [...base.doubts] };
    const values: string[] = [];
    const patterns: string[] = [];
    for (const facet of node.children) {
      const value = facet.attributes.get("value");
      if (facet.namespace !== XSD || value === undefined || facet.name === "whiteSpace") continue;
      if (facet.name === "enumeration") values.push(value);
      else if (facet.name === "pattern") patterns.push(value);
      else this.#facet(facts, facet.name, value);
      if (facts.places.length < 20) facts.places.push(this.#placeOf(facet));
    }
    if (values.length > 0) facts.enum = typed(values.slice(0, MAX_ENUM), facts.types);
    if (patterns.length > 0 && facts.types[0] === "string") {
      const pattern = patternFrom(patterns);
      if (pattern === undefined) facts.doubts.push(`The pattern ${patterns[0]?.slice(0, 200)} cannot be checked here.`);
      else facts.pattern = pattern;
    }
    return facts;
  }

  #facet(facts: SimpleFacts, name: string, text: string): void {
    const number = Number(text);
    const isNumber = facts.types[0] === "integer" || facts.types[0] === "number";
    if (!Number.isFinite(number) || text.trim() === "") return;
    if (isNumber) {
      switch (name) {
        case "minInclusive":
          facts.minimum = Math.max(number, facts.minimum ?? -Infinity);
          break;
        case "maxInclusive":
          facts.maximum = Math.min(number, facts.maximum ?? Infinity);
          break;
        case "minExclusive":
          facts.exclusiveMinimum = number;
          break;
        case "maxExclusive":
          facts.exclusiveMaximum = number;
          break;
        case "fractionDigits":
          if (number > 0 && number <= 12) facts.multipleOf = Number(`1e-${number}`);
          else if (number === 0) facts.types = ["integer"];
          break;
        case "totalDigits":
          if (facts.types[0] === "integer" && number <= 15) {
            facts.maximum ??= 10 ** number - 1;
            facts.minimum ??= 1 - 10 ** number;
          }
          break;
        default:
      }
      return;
    }
    if (facts.isList) return;
    if (name === "length") facts.minLength = facts.maxLength = number;
    else if (name === "minLength") facts.minLength = number;
    else if (name === "maxLength") facts.maxLength = number;
  }
}

function typed(values: readonly string[], [type]: SchemaFacts["types"]): unknown[] {
  if (type === "integer" || type === "number") return values.map(Number).filter((value) => Number.isFinite(value));
  return [...values];
}

/** What a name may begin with, and have in it (XML Schema, `\i` and `\c`). */
const NAME_CLASSES: Readonly<Record<string, string>> = {
  i: String.raw`\p{L}_:`,
  c: String.raw`\p{L}\p{N}._:\-`,
};

/** A pattern of XML Schema as one of JSON Schema; undefined if it uses what only XML Schema has. */
function patternFrom(patterns: readonly string[]): string | undefined {
  const read = patterns.map(translated);
  if (read.some((each) => each === undefined) || read.length === 0) return undefined;
  return `^(?:${read.join("|")})$`;
}

function translated(pattern: string): string | undefined {
  let out = "";
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "\\") {
      const next = pattern[++at] ?? "";
      if (next === "I" || next === "C" || next === "" || pattern.startsWith("{Is", at + 1)) return undefined;
      const names = NAME_CLASSES[next];
      if (names !== undefined) out += isInClass ? names : `[${names}]`;
      else if (next === "-" && !isInClass) out += "-";
      else out += `\\${next}`;
    } else if (isInClass) {
      // One class without another has no counterpart.
      if (char === "[") return undefined;
      if (char === "]") isInClass = false;
      out += char;
    } else {
      if (char === "[") isInClass = true;
      // These have no meaning of their own: a pattern is about the whole text.
      out += char === "^" || char === "$" ? `\\${char}` : char;
      if (char === "[" && pattern[at + 1] === "^") out += pattern[++at] ?? "";
    }
  }
  return isInClass ? undefined : out;
}
