import { visible, visibleLines } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { exampleArguments } from "./example-call.ts";
import type { Output } from "../output/output.ts";
import { SchemaReader } from "../../schema/type-text.ts";
import { cellsOf, padded, wrapped, cut } from "../output/text-width.ts";
import { toolSignature, signatureLines } from "./tool-signature.ts";

type Page = Pick<Output, "columns" | "style">;

const DEEPEST = 4;
const MOST_ROWS = 200;

/** One tool in full. `call` is the command that calls it, without its arguments. */
export function toolDetails(tool: Tool, { title, call }: { title: string; call: string }, out: Page): string[] {
  const { inputSchema, outputSchema } = tool;
  const name = tool.title ?? tool.annotations?.title;
  const example = [call, ...exampleArguments(tool)].join(" ");
  const tokens = tokenCost(tool);
  return [
    `${out.style("bold", visible(title))}${typeof name === "string" && name !== tool.name ? `  ${visible(name)}` : ""}`,
    ...indented(signatureLines(toolSignature(tool), inside(out))),
    ...section(out, "Description", proseLines(tool.description, inside(out))),
    ...section(out, "Arguments", isRecord(inputSchema) ? memberLines(inputSchema, out) : [], "none"),
    ...section(out, "Returns", isRecord(outputSchema) ? memberLines(outputSchema, out) : []),
    ...section(out, "Annotations", effectsOf(tool)),
    ...section(out, "Cost", [`about ${tokens} tokens of the model's context in each request`]),
    ...section(out, "Example call", [visible(example)]),
  ];
}

function section(out: Page, title: string, lines: readonly string[], nothing?: string): string[] {
  const shown = lines.length === 0 && nothing !== undefined ? [nothing] : lines;
  return shown.length === 0 ? [] : ["", out.style("bold", title), ...indented(shown)];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

function inside({ columns }: Page, by = 2): number | undefined {
  return columns === undefined ? undefined : columns - by;
}

function proseLines(text: unknown, width: number | undefined): string[] {
  return typeof text === "string" && text.trim() !== "" ? wrapped(visibleLines(text.trim()), width) : [];
}

interface Row {
  path: string;
  type: string;
  notes: string;
  description: unknown;
}

function memberLines(schema: Record<string, unknown>, out: Page): string[] {
  const rows: Row[] = [];
  addRows(rows, new SchemaReader(schema), schema, { prefix: "", depth: 0 });
  if (rows.length === 0) return [];
  const pathWidth = Math.max(...rows.map(({ path }) => cellsOf(path)));
  const typeWidth = Math.min(Math.max(...rows.map(({ type }) => cellsOf(type))), 30);
  return rows.flatMap(({ path, type, notes, description }) => {
    const head = `${out.style("cyan", padded(path, pathWidth))}  ${padded(type, typeWidth)}  ${notes}`.trimEnd();
    return [head, ...proseLines(description, inside(out, 6)).map((line) => `    ${out.style("dim", line)}`)];
  });
}

/** Nested members have their own rows: `place.city`, `items[].name`. */
function addRows(rows: Row[], reader: SchemaReader, schema: unknown, at: { prefix: string; depth: number }): void {
  for (const property of reader.properties(schema)) {
    if (rows.length >= MOST_ROWS) return;
    const { name, isRequired } = property;
    const member = reader.resolved(property.schema);
    const path = `${at.prefix}${name}`;
    const items = isRecord(member) && isRecord(member["items"]) ? reader.resolved(member["items"]) : undefined;
    const inner = [
      { of: member, prefix: `${path}.`, type: "object" },
      { of: items, prefix: `${path}[].`, type: "object[]" },
    ].find(({ of }) => at.depth < DEEPEST && reader.properties(of).length > 0);
    rows.push({
      path: visible(path),
      type: visible(inner?.type ?? reader.type(property.schema)),
      notes: visible([...(isRequired ? ["required"] : []), ...constraintsOf(member)].join(", ")),
      description: isRecord(member) ? member["description"] : undefined,
    });
    if (inner) addRows(rows, reader, inner.of, { prefix: inner.prefix, depth: at.depth + 1 });
  }
}

/** The tool's own claims, which are not verified. */
function effectsOf({ annotations = {} }: Tool): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const words = [
    hint(readOnlyHint, "read-only: it changes nothing", "it may change something"),
    hint(destructiveHint, "destructive: it may delete or overwrite", "not destructive: it only adds"),
    hint(idempotentHint, "idempotent: a repeated call has no further effect", undefined),
    hint(openWorldHint, "open world: it uses external systems", "closed world: it uses no external systems"),
  ];
  return words.filter((word) => word !== undefined);
}

function hint(value: unknown, yes: string, no: string | undefined): string | undefined {
  if (value === true) return yes;
  return value === false ? no : undefined;
}

/** The approximate number of characters per token in JSON. */
const LETTERS_PER_TOKEN = 3.5;

/** The approximate part of a model's context that the tool takes in each request. */
function tokenCost({ name, description, inputSchema }: Tool): number {
  return Math.ceil(JSON.stringify({ name, description, inputSchema }).length / LETTERS_PER_TOKEN);
}

const LONGEST_VALUE = 60;

/** The constraints of a schema besides its type: `at least 1`, `default 10`. */
export function constraintsOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, pattern, format, examples } = schema;
  const words: (string | undefined)[] = [
    range(minimum, maximum),
    isNumber(exclusiveMinimum) ? `more than ${exclusiveMinimum}` : undefined,
    isNumber(exclusiveMaximum) ? `less than ${exclusiveMaximum}` : undefined,
    isNumber(multipleOf) ? `a multiple of ${multipleOf}` : undefined,
    unit(range(schema["minLength"], schema["maxLength"]), "character"),
    unit(range(schema["minItems"], schema["maxItems"]), "item"),
    schema["uniqueItems"] === true ? "all different" : undefined,
    typeof pattern === "string" ? `matches /${cut(pattern, LONGEST_VALUE)}/` : undefined,
    typeof format === "string" ? format : undefined,
    "default" in schema ? `default ${valueText(schema["default"])}` : undefined,
    Array.isArray(examples) && examples.length > 0 ? `for example ${valueText(examples[0])}` : undefined,
    schema["deprecated"] === true ? "deprecated" : undefined,
  ];
  return words.filter((word) => word !== undefined);
}

function range(least: unknown, most: unknown): string | undefined {
  if (isNumber(least) && isNumber(most)) return least === most ? `exactly ${least}` : `${least} to ${most}`;
  if (isNumber(least)) return `at least ${least}`;
  return isNumber(most) ? `at most ${most}` : undefined;
}

function unit(text: string | undefined, name: string): string | undefined {
  if (text === undefined) return undefined;
  return /^(?:exactly|at least|at most) 1$/.test(text) ? `${text} ${name}` : `${text} ${name}s`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function valueText(value: unknown): string {
  return cut(JSON.stringify(value), LONGEST_VALUE);
}
