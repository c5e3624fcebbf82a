import { setImmediate as nextTurn } from "node:timers/promises";
import type { Tool } from "../../protocol/mcp.ts";
import type { compileSchema } from "../../schema/validator.ts";
import { isRecord } from "../../json/is-record.ts";
import { FindingDraft, ok, type Finding } from "./check.ts";

const MOST = 5;
const ADVICE = "The server's author must correct it. Until then, arguments are sent unchecked.";

/** Whether the tools' schemas are valid JSON Schema. */
export async function schemaFinding(tools: readonly Tool[]): Promise<Finding> {
  if (tools.length === 0) return ok("no tools");
  const { compileSchema: compile } = await import("../../schema/validator.ts");
  const faults: string[] = [];
  for (const { name, inputSchema, outputSchema } of tools) {
    const schemas = { inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
    for (const [member, schema] of Object.entries<unknown>(schemas)) {
      const fault = faultOf(schema, compile);
      if (fault !== undefined) faults.push(`${name}: ${member}${fault}`);
    }
    // Other servers are checked at the same time and must not wait for a thousand schemas.
    await nextTurn();
  }
  const withOutput = tools.filter(({ outputSchema }) => outputSchema !== undefined).length;
  const draft = new FindingDraft();
  for (const fault of faults.slice(0, MOST)) draft.add("warning", fault, ADVICE);
  if (faults.length > MOST) draft.add("warning", `and ${faults.length - MOST} more`);
  const valid = `${tools.length} checked, ${withOutput} of them with an output schema`;
  return faults.length > 0 ? draft.finding() : ok(valid);
}

function faultOf(schema: unknown, compile: typeof compileSchema): string | undefined {
  if (!isRecord(schema)) return " is not an object";
  const check = compile(schema)({});
  return check.kind === "unusable" ? `: ${check.reason}` : undefined;
}
