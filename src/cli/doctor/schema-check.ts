import type { Tool } from "../../protocol/mcp.ts";
import { isRecord } from "../../protocol/json-rpc.ts";
import { FindingDraft, ok, type Finding } from "./check.ts";

const MOST = 5;
const ADVICE = "Its author has to correct it; until then arguments are sent unchecked.";

/** Whether the schemas of the tools are JSON Schema that a validator can use. */
export async function schemaFinding(tools: readonly Tool[]): Promise<Finding> {
  if (tools.length === 0) return ok("there are no tools");
  const { compileSchema } = await import("../../client/schema-validator.ts");
  const faults = tools.flatMap(({ name, inputSchema, outputSchema }) => {
    const schemas = { inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
    return Object.entries(schemas).flatMap(([member, schema]: [string, unknown]) => {
      if (!isRecord(schema)) return [`${name}: ${member} is no object`];
      const check = compileSchema(schema)({});
      return check.kind === "unusable" ? [`${name}: ${member}: ${check.reason}`] : [];
    });
  });
  const withOutput = tools.filter(({ outputSchema }) => outputSchema !== undefined).length;
  const draft = new FindingDraft();
  for (const fault of faults.slice(0, MOST)) draft.add("warning", fault, ADVICE);
  if (faults.length > MOST) draft.add("warning", `and ${faults.length - MOST} more`);
  const valid = `${tools.length} checked, ${withOutput} of them with an output schema`;
  return faults.length > 0 ? draft.finding() : ok(valid);
}
