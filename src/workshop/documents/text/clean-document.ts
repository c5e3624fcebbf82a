import { isRecord } from "../../../json/is-record.ts";
import { escapePart } from "../../../schema/pointer.ts";
import { cleanCollection } from "./clean-collection.ts";
import { cleanExample, cleanTexts, type Places } from "./clean-json.ts";
import { cleanProse, isCredential, LEFT_OUT } from "../../../masking/clean-prose.ts";
import { isCredentialName } from "../../../masking/secret-names.ts";

/** A document without credentials. Its lines, or its parts, are where they were, so that evidence stays right. */
interface CleanDocument {
  text: string;
  /** Of JSON and YAML. */
  value: unknown;
  /** What was left out and where, for people; empty if nothing was. It says the same of a document that is clean already. */
  remarks: string[];
}

interface Given {
  text: string;
  value: unknown;
  /** One of the formats that readers know. */
  format: string;
}

/** `value` of a changed text; it may throw. */
type Parse = (text: string) => unknown;

const MOST_PLACES = 20;
/** More changes are not looked for one by one in the text. */
const MOST_EDITS = 300;
const XML_LEFT_OUT = LEFT_OUT.replace("<", "&lt;").replace(">", "&gt;");

/** Leaves out credentials: a document is kept beside its tool file, and served. */
export function cleanDocument({ text, value, format }: Given, parse: Parse): CleanDocument {
  if (isRecord(value) || Array.isArray(value)) return cleanData({ text, value, format }, parse);
  const mark = format === "html" || format === "wsdl-1.1" ? XML_LEFT_OUT : LEFT_OUT;
  const cleaned = cleanProse(text, mark);
  if (cleaned === text && !text.includes(mark)) return { text, value, remarks: [] };
  const lines = text.split("\n");
  const clean = cleaned.split("\n");
  // Whatever a rule does, a line must not move.
  const kept = clean.length === lines.length ? clean : lines.map((line) => cleanProse(line, mark));
  const places = kept.flatMap((line, index) => (line !== lines[index] || line.includes(mark) ? [`L${index + 1}`] : []));
  return { text: kept.join("\n"), value, remarks: remarksOn(places) };
}

function cleanData({ text, value, format }: Given, parse: Parse): CleanDocument {
  const places: Places = [];
  const cleaner = format === "postman-2" ? cleanCollection : format.startsWith("openapi") ? cleanOpenApi : cleanTexts;
  const clean = cleaner(value, places);
  const remarks = remarksOn([...new Set(places)]);
  const edits = editsBetween(value, clean);
  if (edits.length === 0) return { text, value, remarks };
  const edited = format === "postman-2" ? undefined : editedText(text, edits);
  if (edited !== undefined) {
    try {
      const read = parse(edited);
      if (JSON.stringify(read) === JSON.stringify(clean)) return { text: edited, value: read, remarks };
    } catch {
      // It is written again as a whole.
    }
  }
  const written = `${JSON.stringify(clean, undefined, 2)}\n`;
  return { text: written, value: parse(written), remarks };
}

function remarksOn(places: readonly string[]): string[] {
  if (places.length === 0) return [];
  const more = places.length > MOST_PLACES ? `, and ${places.length - MOST_PLACES} more` : "";
  const what = places.length === 1 ? "1 place" : `${places.length} places`;
  return [
    `Credentials were left out of the copy of this document, in ${what}: ${places.slice(0, MOST_PLACES).join(", ")}${more}`,
  ];
}

interface Edit {
  key: string;
  before: unknown;
  after: unknown;
}

/** The single values that differ. Both have the same members. */
function editsBetween(before: unknown, after: unknown, key = "", found: Edit[] = []): Edit[] {
  if (before === after) return found;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [index, item] of before.entries()) editsBetween(item, after[index], "", found);
  } else if (isRecord(before) && isRecord(after)) {
    for (const [name, member] of Object.entries(before)) editsBetween(member, after[name], name, found);
  } else found.push({ key, before, after });
  return found;
}

/** The same text with other values, so that comments and layout stay; undefined if that is not possible. */
function editedText(text: string, edits: readonly Edit[]): string | undefined {
  if (edits.length > MOST_EDITS) return undefined;
  let edited = text;
  for (const { key, before, after } of edits) {
    if (typeof before !== "string" || typeof after !== "string" || before.includes("\n")) return undefined;
    const name = key === "" ? String.raw`-[ \t]+|[[,]\s*` : String.raw`["']?${escaped(key)}["']?\s*:[ \t]*`;
    const quoted = escaped(JSON.stringify(before).slice(1, -1));
    const written = new RegExp(
      String.raw`((?:^|[\s{,])(?:${name}))(["']?)(?:${quoted}|${escaped(before)})\2(?=[ \t]*(?:[,}\]\n]|#|$))`,
      "g",
    );
    edited = edited.replaceAll(written, (_, lead: string) => lead + JSON.stringify(after));
  }
  return edited;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

const MAX_DEPTH = 190;
const EXAMPLES = /^(?:example|examples|x-examples?|default|const)$/;

/**
 * An OpenAPI description without credentials: users in addresses, values of security parameters and of members with the
 * names of secrets, and tokens in examples and texts.
 */
function cleanOpenApi(value: unknown, places: Places): unknown {
  return cleanNode(value, { places, pointer: "", name: "", key: "", depth: 0 });
}

interface Place {
  places: Places;
  pointer: string;
  /** What the schema around describes: a parameter or a member. */
  name: string;
  key: string;
  depth: number;
  /** Inside of `x-…`, where texts are whatever somebody needed, such as samples of code. */
  isExtension?: boolean;
}

function cleanNode(value: unknown, place: Place): unknown {
  const { places, pointer, key, depth, name } = place;
  const isExtension = place.isExtension === true || key.startsWith("x-");
  if (depth > MAX_DEPTH) return value;
  if (typeof value === "string") return cleanText(value, { ...place, isExtension });
  if (Array.isArray(value)) {
    return value.map((item, index) => cleanNode(item, { ...place, pointer: `${pointer}/${index}`, depth: depth + 1 }));
  }
  if (!isRecord(value)) return value;
  // A parameter has a name and a place; what is inside describes its value.
  const own = typeof value["name"] === "string" && typeof value["in"] === "string" ? value["name"] : name;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const inside = {
        places,
        pointer: `${pointer}/${escapePart(member)}`,
        name: own,
        key: member,
        depth: depth + 1,
        isExtension,
      };
      // These are the names of members and parts, whatever they are called.
      if (key === "properties" || key === "headers" || key === "variables")
        return [member, cleanNode(inner, { ...inside, name: member, key: "" })];
      if (key === "schemas" || key === "definitions")
        return [member, cleanNode(inner, { ...inside, name: "", key: "" })];
      return [member, EXAMPLES.test(member) ? cleanShown(inner, inside) : cleanNode(inner, inside)];
    }),
  );
}

/** `examples` of OpenAPI 3 are objects with a `value`. */
function cleanShown(value: unknown, { places, pointer, name, key, depth }: Place): unknown {
  if (key === "examples" && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([label, each]) => {
        const at = `${pointer}/${escapePart(label)}`;
        if (!isRecord(each) || !Object.hasOwn(each, "value"))
          return [label, cleanExample(each, { pointer: at, name, depth }, places)];
        return [
          label,
          { ...each, value: cleanExample(each["value"], { pointer: `${at}/value`, name, depth }, places) },
        ];
      }),
    );
  }
  return cleanExample(value, { pointer, name, depth }, places);
}

const PROSE = /^(?:description|summary|title|url|host|basePath)$/;

function cleanText(text: string, { places, pointer, key, name, isExtension = false }: Place): string {
  const isValue = key === "enum" && isCredentialName(name) && isCredential("", text);
  const isNamed = isExtension && isCredential(key, text, isCredentialName);
  const isProse = isExtension || PROSE.test(key);
  const clean = isValue || isNamed ? LEFT_OUT : isProse ? cleanProse(withoutUser(text, key)) : text;
  if (clean !== text || clean.includes(LEFT_OUT)) places.push(pointer);
  return clean;
}

function withoutUser(text: string, key: string): string {
  return key === "url" || key === "host" ? text.replace(/^((?:[a-z][\w+.-]*:)?(?:\/\/)?)[^/?#{}@]*@/i, "$1") : text;
}
