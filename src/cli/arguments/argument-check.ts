import { checkArguments } from "../../client/schema-check.ts";
import type { SchemaProblem } from "../../schema/schema-problems.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { wrongUsage } from "../command/command-line.ts";
import { exampleArguments } from "../look/example-call.ts";
import type { Output } from "../output/output.ts";
import { cut } from "../output/text-width.ts";
import { SchemaShape } from "./schema-shape.ts";

const MOST_OF_VALUE = 60;

/** Says what is wrong with arguments before a server sees them. */
export async function requireFitting(
  tool: Tool,
  args: Record<string, unknown>,
  { out, look }: { out: Output; /** The command that shows the tool. */ look: string },
): Promise<void> {
  const example = exampleArguments(tool).join(" ");
  const hint = [
    example === "" ? "" : `For example: ${example}`,
    `"${look}" shows what it takes; --no-validate sends them as they are.`,
  ]
    .filter((line) => line !== "")
    .join("\n");
  const outcome = await checkArguments(tool, args);
  if (outcome.kind === "unusable") {
    return out.note(`${out.onStderr("yellow", "warning:")} the arguments are not checked: ${visible(outcome.reason)}`);
  }
  if (outcome.kind === "invalid") {
    const found = outcome.problems.map((problem) => withValue(problem, args));
    // A name that an open schema allows is most likely the missing one, misspelt.
    const unknown = strangers(args, tool.inputSchema).map(({ name }) => `unknown property ${name}`);
    const problems = [...found, ...unknown.filter((text) => !found.some((problem) => problem.startsWith(text)))];
    const message = `The arguments do not fit "${tool.name}": ${problems.join("; ")}`;
    throw wrongUsage(message, hint);
  }
  for (const { name, near } of strangers(args, tool.inputSchema)) {
    if (near !== undefined) throw wrongUsage(`"${tool.name}" knows no "${name}": did you mean ${near}?`, hint);
    out.note(`${out.onStderr("yellow", "warning:")} the schema of "${visible(tool.name)}" knows no "${visible(name)}"`);
  }
}

/** With the value that was given: "got string" helps nobody who wrote a number. */
function withValue({ path, message }: SchemaProblem, args: unknown): string {
  let value = args;
  for (const part of path.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return message;
  const text = JSON.stringify(value);
  const isShown = message.includes(text) || message.includes(`got ${value}`);
  return isShown ? message : `${message}, ${cut(text, MOST_OF_VALUE)}`;
}

/** Arguments that the schema does not know; `near` are those that were probably meant to be others. */
function strangers(args: Record<string, unknown>, inputSchema: unknown): { name: string; near?: string }[] {
  const shape = new SchemaShape(inputSchema);
  const known = shape.propertyNames;
  const { patternProperties, additionalProperties } = shape.schema;
  if (known.length === 0 || isRecord(patternProperties) || isRecord(additionalProperties)) return [];
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearestName(
        name,
        known.filter((other) => !Object.hasOwn(args, other)),
      );
      return near === undefined ? { name } : { name, near };
    });
}
