import { encodeHeaderValue } from "./header-value.ts";
import { isRecord } from "../json/is-record.ts";

/** A property of a tool's input that is also sent as a header: `x-mcp-header` of 2026-07-28. */
export interface ParamHeader {
  /** `Mcp-Param-<name>`. */
  header: string;
  /** The path to the property, through `properties` only. */
  path: readonly string[];
  type: "string" | "integer" | "boolean";
}

type ParamHeaders = { ok: true; headers: readonly ParamHeader[] } | { ok: false; reason: string };

/** For nearly every tool. */
export const NO_PARAM_HEADERS: ParamHeaders = { ok: true, headers: [] };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = ["string", "integer", "boolean"] as const;
/** Deeper schemas are not searched; no real tool is that deep. */
const MAX_DEPTH = 64;

/** The headers of a tool's input schema, or why the tool must not be offered. */
export function paramHeadersOf(inputSchema: unknown): ParamHeaders {
  if (!isRecord(inputSchema) || !names(inputSchema, 0)) return NO_PARAM_HEADERS;
  const headers: ParamHeader[] = [];
  if ("x-mcp-header" in inputSchema) {
    return { ok: false, reason: "x-mcp-header is set on the whole input schema, but only properties may have it" };
  }
  const reason = collect(inputSchema, [], headers) ?? repeated(headers);
  return reason === undefined ? { ok: true, headers } : { ok: false, reason };
}

/** The header lines for one call's arguments; null and absent values send none. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { header, path } of headers) {
    let value = args;
    for (const step of path) value = isRecord(value) ? value[step] : undefined;
    if (typeof value === "string") values[header] = encodeHeaderValue(value);
    else if (typeof value === "boolean" || typeof value === "number") values[header] = String(value);
  }
  return values;
}

/** Whether the annotation occurs anywhere: a quick check without allocation, because lists can be long. */
function names(value: object, depth: number): boolean {
  if (depth > MAX_DEPTH * 3) return false;
  for (const key in value) {
    if (key === "x-mcp-header") return true;
    const inside = (value as Record<string, unknown>)[key];
    if (typeof inside === "object" && inside !== null && names(inside, depth + 1)) return true;
  }
  return false;
}

function collect(schema: unknown, path: readonly string[], found: ParamHeader[]): string | undefined {
  if (!isRecord(schema) || path.length > MAX_DEPTH) return undefined;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  for (const [name, property] of Object.entries(properties)) {
    const reason = collectProperty(property, [...path, name], found);
    if (reason) return reason;
  }
  for (const [keyword, inside] of Object.entries(schema)) {
    if (keyword === "properties" || LITERALS.has(keyword)) continue;
    if (mentionsHeader(inside, 0)) {
      return `x-mcp-header is set under "${keyword}", but only properties may have it`;
    }
  }
  return undefined;
}

/** Keywords whose value is data, not a schema. */
const LITERALS = new Set(["const", "default", "enum", "examples", "x-mcp-header"]);

function collectProperty(property: unknown, path: readonly string[], found: ParamHeader[]): string | undefined {
  if (!isRecord(property)) return undefined;
  const place = path.join(".");
  if ("x-mcp-header" in property) {
    const name = property["x-mcp-header"];
    if (typeof name !== "string" || !TOKEN.test(name)) return `x-mcp-header of "${place}" is not a header name`;
    const type = TYPES.find((allowed) => allowed === property["type"]);
    if (!type) return `x-mcp-header of "${place}" is set on a type other than string, integer or boolean`;
    found.push({ header: `Mcp-Param-${name}`, path, type });
  }
  return collect(property, path, found);
}

function mentionsHeader(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((item) => mentionsHeader(item, depth + 1));
  return Object.entries(value).some(([key, inside]) => {
    if (key === "x-mcp-header") return true;
    // A property can have the same name as the annotation.
    if (key === "properties" && isRecord(inside))
      return Object.values(inside).some((each) => mentionsHeader(each, depth + 1));
    return !LITERALS.has(key) && mentionsHeader(inside, depth + 1);
  });
}

function repeated(headers: readonly ParamHeader[]): string | undefined {
  const seen = new Set<string>();
  for (const { header } of headers) {
    const name = header.toLowerCase();
    if (seen.has(name)) return `x-mcp-header "${header.slice("Mcp-Param-".length)}" is used twice`;
    seen.add(name);
  }
  return undefined;
}
