import { modelName } from "../../host/directory/names.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { joinFirst } from "../../text/shorten.ts";
import { FindingDraft, ok, type Finding } from "./check.ts";

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
/** The maximum nesting that all large providers accept. */
const MAX_DEPTH = 10;
/** The approximate number of characters per token for English and JSON. */
const CHARACTERS_PER_TOKEN = 4;
const HEAVY_TOKENS = 1_000;
const MANY_TOKENS = 20_000;

/** Whether model providers accept the definitions, and their cost in every request. */
export function providerFinding(prefix: string, tools: readonly Tool[]): Finding {
  if (tools.length === 0) return ok("no tools");
  const draft = new FindingDraft();
  cost(draft, tools);
  for (const [problem, names] of problemsOf(tools)) {
    draft.add(
      "warning",
      `${problem}: ${joinFirst(names)}`,
      "Some providers reject such tools. The server's author should change the schema.",
    );
  }
  const shortened = tools.filter(({ name }) => modelName(prefix, name) !== `mcp__${prefix}__${name}`);
  if (shortened.length > 0) {
    const names = shortened.map(({ name }) => `${name} → ${modelName(prefix, name)}`);
    draft.add("note", `models see these under a changed name: ${joinFirst(names, 3)}`);
  }
  const silent = tools.filter(({ description }) => typeof description !== "string" || description.trim() === "");
  if (silent.length > 0) {
    draft.add(
      "note",
      `without a description: ${joinFirst(silent.map(({ name }) => name))}`,
      "Models choose tools by their descriptions. The server's author should add them.",
    );
  }
  return draft.finding();
}

/** The approximate number of tokens of a tool's definition. */
export function tokensOf({ name, description, inputSchema }: Tool): number {
  return Math.ceil(JSON.stringify({ name, description, inputSchema }).length / CHARACTERS_PER_TOKEN);
}

function cost(draft: FindingDraft, tools: readonly Tool[]): void {
  const weighed = tools
    .map((tool) => ({ name: tool.name, tokens: tokensOf(tool) }))
    .sort((a, b) => b.tokens - a.tokens);
  const total = weighed.reduce((sum, { tokens }) => sum + tokens, 0);
  const heavy = weighed.filter(({ tokens }) => tokens >= HEAVY_TOKENS).map(({ name, tokens }) => `${name} ${tokens}`);
  const advice = `Hide tools that are not needed with "tools": { "allow": […] } or "deny" in the server's entry.`;
  draft.add(
    total >= MANY_TOKENS ? "warning" : "ok",
    `${tools.length} definitions, about ${total} tokens in every request`,
    total >= MANY_TOKENS ? advice : undefined,
  );
  if (heavy.length > 0) draft.add("note", `largest (tokens): ${joinFirst(heavy, 3)}`, advice);
}

/** The problems, and the tools that have them. */
function problemsOf(tools: readonly Tool[]): Map<string, string[]> {
  const problems = new Map<string, string[]>();
  for (const { name, inputSchema } of tools) {
    for (const problem of new Set(schemaProblems(inputSchema)))
      problems.set(problem, [...(problems.get(problem) ?? []), name]);
  }
  return problems;
}

/** Parts of an argument schema that providers do not accept. */
export function schemaProblems(schema: unknown): string[] {
  if (!isRecord(schema)) return ["the schema is not an object"];
  const problems: string[] = [];
  if (schema["type"] !== "object") problems.push(`"type" of the top level is not "object"`);
  for (const keyword of ["oneOf", "anyOf", "allOf"]) {
    if (schema[keyword] !== undefined) problems.push(`"${keyword}" at the top level`);
  }
  inspect(schema, 0, problems);
  return problems;
}

function inspect(schema: unknown, depth: number, problems: string[]): void {
  if (depth > MAX_DEPTH) return void problems.push(`nested deeper than ${MAX_DEPTH} levels`);
  if (!isRecord(schema)) return;
  for (const type of [schema["type"]].flat()) {
    if (type !== undefined && !(typeof type === "string" && TYPES.has(type)))
      problems.push(`the type ${JSON.stringify(type)}, which is not in JSON Schema`);
  }
  const { properties } = schema;
  if (isRecord(properties)) {
    for (const name of Object.keys(properties)) {
      if (!PROPERTY_NAME.test(name)) problems.push(`the argument name ${JSON.stringify(name.slice(0, 70))}`);
    }
  }
  for (const inner of schemasIn(schema)) inspect(inner, depth + 1, problems);
}

function schemasIn(schema: Record<string, unknown>): unknown[] {
  const maps = ["properties", "patternProperties", "$defs", "definitions"].flatMap((key) => {
    const map = schema[key];
    return isRecord(map) ? Object.values(map) : [];
  });
  const others = ["items", "additionalProperties", "prefixItems", "oneOf", "anyOf", "allOf", "not"];
  return [...maps, ...others.flatMap((key) => schema[key] ?? [])];
}
