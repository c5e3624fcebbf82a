import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import { shorten } from "../../text/shorten.ts";
import type { ModelTool } from "./model-provider.ts";
import type { ProviderNames, SafeNames } from "./provider-names.ts";
import { isRecord } from "../../json/is-record.ts";
import { fragmentParts, referenced } from "../../schema/pointer.ts";
import { prepareSchema, UnusableSchema } from "../../schema/preparation.ts";
import type { Schema } from "../../schema/schema-parts.ts";

/** Of a schema that is shown as text. */
const MAX_SCHEMA = 4_000;
/** `tools.3.custom.input_schema` and `tools[3].function.parameters` in the error of a provider. */
const REFUSED = /\btools[.[](\d+)\b/;

/**
 * The tools that a provider does not accept as they are. It refuses the whole request because of one of them, so that
 * the schema of this one is sent as text, and if that is refused as well, the tool is left out.
 */
export class RefusedTools {
  /** By their schemas, which are the same objects as long as the definitions of a server are. */
  readonly #refusals = new WeakMap<object, number>();

  /** Those that are sent. */
  accepted(tools: readonly ModelTool[]): ModelTool[] {
    return tools.filter(({ inputSchema }) => (this.#refusals.get(inputSchema) ?? 0) < 2);
  }

  definitionOf({ name, description, inputSchema }: ModelTool, names: ProviderNames): LanguageModelV3FunctionTool {
    const schema = this.#refusals.has(inputSchema) ? undefined : providerSchema(inputSchema, names.properties);
    const text = `${description}\nThe schema of its arguments: ${shorten(JSON.stringify(inputSchema), MAX_SCHEMA)}`;
    return {
      type: "function",
      name: names.tools.toSafe(name),
      description: schema ? description : text,
      inputSchema: schema ?? OPEN_SCHEMA,
    };
  }

  /** Notes the tool that the error of a provider names; undefined if it names none. */
  note(body: string, tools: readonly ModelTool[]): { tool: ModelTool; isLeftOut: boolean } | undefined {
    const tool = this.accepted(tools)[Number(REFUSED.exec(body)?.[1] ?? Number.NaN)];
    if (!tool) return undefined;
    const refusals = (this.#refusals.get(tool.inputSchema) ?? 0) + 1;
    this.#refusals.set(tool.inputSchema, refusals);
    return { tool, isLeftOut: refusals > 1 };
  }
}

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;
/** Providers refuse these at the top; arguments are checked against the whole schema before a call. */
const REFUSED_AT_TOP: ReadonlySet<string> = new Set([...COMBINATIONS, "not", "enum", "const", "if", "then", "else"]);
/** Keywords whose members are schemas. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords that are a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...COMBINATIONS,
  "not",
  "if",
  "then",
  "else",
  "items",
  "prefixItems",
  "additionalItems",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
]);
/** Keywords whose members are named after properties. */
const BY_PROPERTY: ReadonlySet<string> = new Set(["properties", "dependentSchemas", "dependentRequired"]);
/** Keywords that must be text. */
const TEXTS: ReadonlySet<string> = new Set(["title", "description", "format", "$comment"]);

/** Accepts all arguments: the server, or our own check, decides. */
const OPEN_SCHEMA: Schema = { type: "object", properties: {}, additionalProperties: true };

/**
 * The schema of a tool as providers accept it: an object at the top, in the newest dialect, with accepted names of
 * properties. Undefined if it is not a valid schema: providers refuse the whole request because of one such tool.
 */
export function providerSchema(schema: Schema, names: SafeNames): Schema | undefined {
  const { $schema: _dialect, ...plain } = schema;
  try {
    const sent = objectAtTop(repaired(plain, names) as Schema);
    const { references } = prepareSchema(sent);
    const isLocal = references.every(({ $ref }) => typeof $ref === "string" && referenced($ref, sent) !== undefined);
    return isLocal ? sent : undefined;
  } catch (error) {
    if (error instanceof UnusableSchema || error instanceof RangeError) return undefined;
    throw error;
  }
}

function objectAtTop(schema: Schema): Schema {
  const whole = withoutTopReference(schema);
  const branches = COMBINATIONS.flatMap((name) => {
    const listed = whole[name];
    return Array.isArray(listed) ? listed.filter(isRecord).map((branch) => withoutTopReference(branch, whole)) : [];
  });
  const properties = Object.assign({}, ...[...branches, whole].map(propertiesOf)) as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(whole).filter(([key]) => !REFUSED_AT_TOP.has(key)));
  return { ...rest, type: "object", properties };
}

function propertiesOf({ properties }: Schema): Schema {
  return isRecord(properties) ? properties : {};
}

/** Follows `$ref` to a definition beside it, once. */
function withoutTopReference(schema: Schema, root: Schema = schema): Schema {
  const { $ref: reference, ...rest } = schema;
  if (typeof reference !== "string") return schema;
  const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = root[group];
  const found = isRecord(definitions) ? definitions[name] : undefined;
  return isRecord(found) ? { ...found, ...rest } : rest;
}

/** Without what one provider or another refuses at any depth. */
function repaired(schema: unknown, names: SafeNames): unknown {
  if (Array.isArray(schema)) return schema.map((each) => repaired(each, names));
  if (!isRecord(schema)) return schema;
  const members = Object.entries(schema).flatMap(([keyword, value]) => {
    const kept = keywordValue(keyword, value, names);
    return kept === undefined ? [] : [[keyword, kept] as const];
  });
  return withItems(Object.fromEntries(members));
}

/** Undefined if the keyword is left out. */
function keywordValue(keyword: string, value: unknown, names: SafeNames): unknown {
  if (keyword === "$ref" && typeof value === "string") return safeReference(value, names);
  if (keyword === "required" && Array.isArray(value)) return [...new Set(value.map((name) => safeName(name, names)))];
  if (TEXTS.has(keyword)) return typeof value === "string" ? value : undefined;
  if (COMBINATIONS.some((name) => name === keyword) && Array.isArray(value) && value.length === 0) return undefined;
  if (SCHEMAS.has(keyword)) return repaired(value, names);
  if (!isRecord(value) || !(MAPS.has(keyword) || BY_PROPERTY.has(keyword))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => {
      const safe = BY_PROPERTY.has(keyword) ? names.toSafe(name) : name;
      if (!MAPS.has(keyword))
        return [safe, Array.isArray(member) ? member.map((each) => safeName(each, names)) : member];
      const inner = repaired(member, names);
      return [safe, safe === name ? inner : withOwnName(inner, name)];
    }),
  );
}

function safeName(name: unknown, names: SafeNames): unknown {
  return typeof name === "string" ? names.toSafe(name) : name;
}

/** A model understands a property better by its own name. */
function withOwnName(schema: unknown, name: string): unknown {
  if (!isRecord(schema)) return schema;
  const { description } = schema;
  const own = `Called ${JSON.stringify(name)}.`;
  return { ...schema, description: typeof description === "string" ? `${own} ${description}` : own };
}

function safeReference(reference: string, names: SafeNames): string {
  if (!reference.startsWith("#/")) return reference;
  const parts = fragmentParts(reference);
  const written = reference.split("/");
  const safe = parts.map((part, at) => {
    const isProperty = at > 0 && BY_PROPERTY.has(parts[at - 1] ?? "");
    const own = isProperty ? names.toSafe(part) : part;
    return own === part ? (written[at + 1] ?? "") : own;
  });
  return ["#", ...safe].join("/");
}

/** The dialect of draft-07 has lists of items; and some providers refuse arrays that do not say what is in them. */
function withItems(schema: Record<string, unknown>): Record<string, unknown> {
  const { items, additionalItems, ...rest } = schema;
  if (Array.isArray(items)) {
    return { ...rest, ...(items.length > 0 && { prefixItems: items }), items: additionalItems ?? {} };
  }
  const isArray = [schema["type"]].flat().includes("array");
  return isArray && items === undefined ? { ...schema, items: {} } : schema;
}
