import { visible } from "../../text/visible.ts";
import type { Prompt, Tool } from "../../protocol/mcp.ts";
import { memberName, SchemaReader } from "../../schema/type-text.ts";
import { cellsOf, cut, filled } from "../output/text-width.ts";

/** A name with its parameters: `search(query: string, limit?: integer = 10)`. */
interface Signature {
  name: string;
  parameters: readonly string[];
}

const IN_LISTS = { depth: 2, choices: 8 };
const LONGEST_DEFAULT = 40;

export function toolSignature({ name, inputSchema }: Tool): Signature {
  const reader = new SchemaReader(inputSchema, IN_LISTS);
  const parameters = reader.properties(inputSchema).map((property) => {
    const { schema } = property;
    const fallback = defaultOf(reader.resolved(schema));
    return visible(`${memberName(property)}: ${reader.type(schema)}${fallback === undefined ? "" : ` = ${fallback}`}`);
  });
  return { name: nameText(name), parameters };
}

/** Arguments of prompts are strings. */
export function promptSignature({ name, arguments: taken }: Prompt): Signature {
  const parameters = (Array.isArray(taken) ? taken : []).map(({ name: argument, required }) => {
    return memberName({ name: nameText(argument), isRequired: required === true });
  });
  return { name: nameText(name), parameters };
}

/** On one line if it fits; otherwise with each parameter on its own line. */
export function signatureLines({ name, parameters }: Signature, width?: number): string[] {
  const line = `${name}(${parameters.join(", ")})`;
  if (width === undefined || cellsOf(line) <= width || parameters.length === 0) return [line];
  return [`${name}(`, ...filled(parameters, ", ", width - 2).map((part) => `  ${part}`), ")"];
}

function defaultOf(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || !("default" in schema)) return undefined;
  return cut(JSON.stringify(schema.default) ?? "", LONGEST_DEFAULT);
}

/** The specification requires a name, but a server may send none. */
function nameText(name: unknown): string {
  return typeof name === "string" ? visible(name) : "(no name)";
}
