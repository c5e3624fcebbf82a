import { groupedBy } from "../../../text/grouped-by.ts";
import type { Problems } from "../../../format/problem.ts";
import { requestTools } from "../model/request-tools.ts";
import type { FieldSpec, RequestToolSpec, ToolFile } from "../model/tool-file.ts";
import { fieldsTaken } from "../complete/uses.ts";

/** A tool is compared with so many before it: comparing thousands in pairs would take too long. */
const MOST_COMPARED = 100;

/** What a request must have, by its place and name; with its value if that is always the same. */
type Marks = Map<string, string | undefined>;

interface ComparedTool {
  name: string;
  request: RequestToolSpec["request"];
  /** What every request has. */
  required: Marks;
  /** What a request can have. */
  known: Marks;
}

/** Tools whose requests cannot be told apart: the fake would answer for the wrong one. */
export function checkSameRequests(file: ToolFile, problems: Problems): void {
  const tools = requestTools(file).map(([name, tool]) => comparedTool(file, name, tool));
  for (const sharing of groupedBy(tools, ({ request }) => addressOf(request)).values()) {
    if (sharing.length < 2) continue;
    for (const alike of groupedBy(sharing, constantsIn(sharing)).values()) reportSame(alike, problems);
  }
}

function reportSame(tools: readonly ComparedTool[], problems: Problems): void {
  tools.forEach((tool, index) => {
    const same = tools.slice(Math.max(0, index - MOST_COMPARED), index).find((other) => !isDifferent(tool, other));
    if (!same) return;
    const message = `its requests cannot be told from those of ${same.name}, so the fake may answer for either`;
    const hint = "Give one of them a parameter or a body member that is required or constant.";
    problems.warning(["tools", tool.name, "request"], message, hint);
  });
}

function comparedTool(file: ToolFile, name: string, tool: RequestToolSpec): ComparedTool {
  const isRequired = ({ optional, default: standard }: FieldSpec) => !optional && standard === undefined;
  const known = partsOf(file, tool, () => true);
  return { name, request: tool.request, required: partsOf(file, tool, isRequired), known };
}

function addressOf({ method, path, base = "" }: RequestToolSpec["request"]): string {
  return `${method} ${base} ${path.replaceAll(/\{[^}]*\}/g, "{}")}`;
}

/**
 * The values of what is constant in all of these tools. Those with other values are different without a comparison in
 * pairs, which takes too long for the thousands of tools that a GraphQL endpoint can have.
 */
function constantsIn(tools: readonly ComparedTool[]): (tool: ComparedTool) => string {
  const marks = [...(tools[0]?.required ?? [])].map(([mark]) => mark);
  const constant = marks.filter((mark) => tools.every(({ required }) => required.get(mark) !== undefined));
  return ({ required }) => JSON.stringify(constant.map((mark) => required.get(mark)));
}

function isDifferent(one: ComparedTool, other: ComparedTool): boolean {
  if (one.request.body !== other.request.body || one.request.contentType !== other.request.contentType) return true;
  return hasOwn(one.required, other.known) || hasOwn(other.required, one.known);
}

/** Whether something that is needed here is unknown there, or has another value. */
function hasOwn(marks: Marks, there: Marks): boolean {
  return [...marks].some(([mark, value]) => {
    if (!there.has(mark)) return true;
    const others = there.get(mark);
    return value !== undefined && others !== undefined && value !== others;
  });
}

function partsOf(
  file: ToolFile,
  { input, request }: RequestToolSpec,
  isIncluded: (field: FieldSpec) => boolean,
): Marks {
  const fields = file.types[input]?.fields ?? {};
  const marks: Marks = new Map();
  const add = (mark: string, field: FieldSpec | undefined) => {
    if (field && isIncluded(field)) marks.set(mark, field.const === undefined ? undefined : String(field.const));
  };
  for (const place of ["query", "headers", "cookies"] as const) {
    for (const [name, parameter] of Object.entries(request[place] ?? {})) {
      const mark = `${place} ${place === "headers" ? name.toLowerCase() : name}`;
      if (typeof parameter === "string") add(mark, fields[parameter]);
      else if ("field" in parameter) add(mark, fields[parameter.field]);
      else marks.set(mark, "const" in parameter ? parameter.const : undefined);
    }
  }
  if (request.body === undefined) return marks;
  const taken = new Set(fieldsTaken(request));
  for (const [name, field] of Object.entries(fields)) {
    if (field.wire !== false && field.side !== "output" && !taken.has(name)) add(`body ${field.wire}`, field);
  }
  return marks;
}
