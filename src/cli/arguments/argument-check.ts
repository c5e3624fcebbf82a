import { checkArguments } from "../../client/schema-check.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { wrongUsage } from "../command/command-line.ts";
import { exampleArguments } from "../look/example-call.ts";
import type { Output } from "../output/output.ts";
import { SchemaShape } from "../../schema/shape.ts";

/** Reports invalid arguments before they are sent to a server. */
export async function requireFitting(
  tool: Tool,
  args: Record<string, unknown>,
  { out, look }: { out: Output; /** The command that shows the tool. */ look: string },
): Promise<void> {
  const example = exampleArguments(tool).join(" ");
  const hint = [
    example === "" ? "" : `For example: ${example}`,
    `"${look}" shows the tool's arguments; --no-validate sends them unchecked.`,
  ]
    .filter((line) => line !== "")
    .join("\n");
  const outcome = await checkArguments(tool, args);
  if (outcome.kind === "unusable") {
    return out.warn(`the arguments were not checked: ${visible(outcome.reason)}`);
  }
  if (outcome.kind === "invalid") {
    const found = outcome.problems.map(({ message }) => message);
    // An unknown name that an open schema allows is probably the missing one, misspelt.
    const unknown = strangers(args, tool.inputSchema).map(({ name }) => `unknown property ${name}`);
    const problems = [...found, ...unknown.filter((text) => !found.some((problem) => problem.startsWith(text)))];
    const message = `Invalid arguments for the tool "${tool.name}": ${problems.join("; ")}`;
    throw wrongUsage(message, hint);
  }
  for (const { name, near } of strangers(args, tool.inputSchema)) {
    if (near !== undefined) throw wrongUsage(`"${tool.name}" has no argument "${name}". Did you mean ${near}?`, hint);
    out.warn(`the schema of "${visible(tool.name)}" has no argument "${visible(name)}"`);
  }
}

/** Arguments that the schema does not know; `near` are the names that were probably meant. */
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
