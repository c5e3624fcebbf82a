import { isRecord } from "../json/is-record.ts";
import type { Params } from "./json-rpc.ts";
import type { ListKind } from "./list-kinds.ts";

/** Receives the place of each member that had to be changed: `annotations.title`. */
type Report = (place: string, value: unknown) => void;

/** A value that may be listed: unchanged if it is valid, a repaired copy, or undefined if it is unusable. */
type Rule = (value: unknown, report: Report) => unknown;

/**
 * An item of a list that every client accepts. Many clients check a list as a whole, so one invalid member would cost
 * all items of all servers. Optional members that are null or of the wrong type are left out and reported; undefined if
 * a required member is missing. A valid item is returned unchanged.
 */
export function normaliseItem(kind: ListKind, value: unknown, report: Report): Params | undefined {
  return ITEMS[kind](value, report) as Params | undefined;
}

/** The name of an item for messages. */
export function itemName(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  return [value["name"], value["uri"], value["uriTemplate"]].find((name) => typeof name === "string");
}

const text: Rule = (value) => (typeof value === "string" ? value : undefined);
/** By which something is used: nothing can be asked for by an empty one. */
const key: Rule = (value) => (value === "" ? undefined : text(value, () => {}));
const flag: Rule = (value) => (typeof value === "boolean" ? value : undefined);
const number: Rule = (value) => (Number.isFinite(value) ? value : undefined);
const share: Rule = (value) => (typeof value === "number" && value >= 0 && value <= 1 ? value : undefined);
const oneOf =
  (...words: string[]): Rule =>
  (value) =>
    words.includes(value as string) ? value : undefined;

const TIME = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const time: Rule = (value) => {
  const [, year, month, day] = (typeof value === "string" ? TIME.exec(value) : undefined) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day) ? value : undefined;
};

/** Leaves out unusable elements. */
function listOf(rule: Rule): Rule {
  return (value, report) => {
    if (!Array.isArray(value)) return undefined;
    const list: readonly unknown[] = value;
    let copy: unknown[] | undefined;
    for (const [index, before] of list.entries()) {
      const after = rule(before, (place, found) => report(`${index}.${place}`, found));
      if (after === undefined) report(String(index), before);
      if (after !== before) copy ??= list.slice(0, index);
      if (copy && after !== undefined) copy.push(after);
    }
    return copy ?? list;
  };
}

/** Leaves out unusable members; undefined if a required one is missing then. */
function object(members: Record<string, Rule>, ...needed: string[]): Rule {
  const rules = Object.entries(members);
  return (value, report) => {
    if (!isRecord(value)) return undefined;
    let copy: Params | undefined;
    for (const [member, rule] of rules) {
      const before = value[member];
      if (before === undefined) continue;
      const after = rule(before, (place, found) => report(`${member}.${place}`, found));
      if (after === before) continue;
      copy ??= { ...value };
      if (after !== undefined) copy[member] = after;
      else {
        delete copy[member];
        report(member, before);
      }
    }
    const result = copy ?? value;
    const missing = needed.find((member) => result[member] === undefined);
    if (missing === undefined) return result;
    if (value[missing] === undefined) report(missing, undefined);
    return undefined;
  };
}

/** Each property is a schema: an object, true or false. Anything else is left out. */
const properties: Rule = (value, report) => {
  if (!isRecord(value)) return undefined;
  let copy: Params | undefined;
  for (const name in value) {
    const schema = value[name];
    if (isRecord(schema) || typeof schema === "boolean") continue;
    report(name, schema);
    copy ??= { ...value };
    copy[name] = {};
  }
  return copy ?? value;
};

const schema = object({ $schema: text, properties, required: listOf(text) });

/** Arguments are always an object, even if the schema does not say so. */
const inputSchema: Rule = (value, report) => {
  const found = schema(value, report);
  if (!isRecord(found)) return undefined;
  const { type } = found;
  if (type === "object") return found;
  const isSilent = type === undefined || type === null || (Array.isArray(type) && type.includes("object"));
  if (!isSilent) return undefined;
  report("type", type);
  return { ...found, type: "object" };
};

const meta = object({});
const icon = object({ src: text, mimeType: text, sizes: listOf(text), theme: oneOf("light", "dark") }, "src");
const described = { name: text, title: text, description: text, icons: listOf(icon), _meta: meta };
const annotations = object({ audience: listOf(oneOf("user", "assistant")), priority: share, lastModified: time });
const argument = object({ name: text, title: text, description: text, required: flag }, "name");
const hints = object({
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
});
const execution = object({ taskSupport: oneOf("required", "optional", "forbidden") });
const describedTool = object(
  { ...described, name: key, inputSchema, outputSchema: schema, annotations: hints, execution },
  "name",
);

/** Adds a member that clients require if the server's is missing or unusable. */
function filled(rule: Rule, member: string, fill: (item: Params) => unknown): Rule {
  return (value, report) => {
    const found = rule(value, report);
    if (!isRecord(found) || found[member] !== undefined) return found;
    if (isRecord(value) && value[member] === undefined) report(member, undefined);
    return { ...found, [member]: fill(found) };
  };
}

const resource = object({ ...described, uri: key, mimeType: text, size: number, annotations }, "uri");
const template = object({ ...described, uriTemplate: key, mimeType: text, annotations }, "uriTemplate");

const ITEMS: Record<ListKind, Rule> = {
  tools: filled(describedTool, "inputSchema", () => ({ type: "object" })),
  prompts: object({ ...described, name: key, arguments: listOf(argument) }, "name"),
  resources: filled(resource, "name", ({ uri }) => uri),
  resourceTemplates: filled(template, "name", ({ uriTemplate }) => uriTemplate),
};
