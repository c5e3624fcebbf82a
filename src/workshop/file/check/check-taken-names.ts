import { SOURCE_PAYLOAD } from "../../compile/json-schema.ts";
import { SEARCHING_TOOLS } from "../../../protocol/meta.ts";
import type { Problems } from "../../../format/problem.ts";
import type { FieldSpec, ToolFile } from "../model/tool-file.ts";

/** Reserved names that a tool or a field must not have. */
export function checkTakenNames(file: ToolFile, problems: Problems): void {
  if (Object.values(file.tools).some(({ offer }) => offer === "search")) {
    for (const name of SEARCHING_TOOLS.filter((taken) => Object.hasOwn(file.tools, taken))) {
      const hint = "Call it otherwise, or list all tools (without offer: search).";
      problems.keyError(["tools", name], "is the name of a tool that searches, describes or calls others", hint);
    }
  }
  for (const { input, response } of Object.values(file.tools)) {
    const look = (type: string, name: string) => fieldOf(file, type, name);
    const { type } = response;
    if (response.sourcePayload && look(input, SOURCE_PAYLOAD)) {
      problems.keyError(placeOf(input, SOURCE_PAYLOAD), "is the argument that asks for the answer as it came", RENAME);
    }
    if (type === undefined) continue;
    if (look(type, "deviations")?.hidden === false) {
      problems.keyError(placeOf(type, "deviations"), "is where results say what was not as documented", RENAME);
    }
    for (const name of ["status", "input"].filter((taken) => look(type, taken))) {
      const what = name === "status" ? "the status of HTTP" : "the input";
      problems.warning(placeOf(type, name), `in errors and texts, ${name} is ${what} and not this field`, RENAME);
    }
  }
}

const RENAME = "Call it otherwise, and say with wire how it is called upstream.";

function placeOf(type: string, field: string): string[] {
  return ["types", type, "fields", field];
}

function fieldOf({ types }: ToolFile, type: string, name: string): FieldSpec | undefined {
  const fields = Object.hasOwn(types, type) ? (types[type]?.fields ?? {}) : {};
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
