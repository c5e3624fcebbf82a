import type { Problems } from "../model/problem.ts";
import { requestTools } from "../model/request-tools.ts";
import type { FieldSpec, RequestToolSpec, ToolFile } from "../model/tool-file.ts";
import { fieldsTaken } from "../read/uses.ts";

/** What a request must have, by its place and name; with its value if that is always the same. */
type Marks = Map<string, string | undefined>;

/** Tools whose requests cannot be told apart: the fake would answer for the wrong one. */
export function checkSameRequests(file: ToolFile, problems: Problems): void {
  const byAddress = new Map<string, [string, RequestToolSpec][]>();
  for (const entry of requestTools(file)) {
    const { method, path, base = "" } = entry[1].request;
    const address = `${method} ${base} ${path.replaceAll(/\{[^}]*\}/g, "{}")}`;
    byAddress.set(address, [...(byAddress.get(address) ?? []), entry]);
  }
  for (const tools of byAddress.values()) {
    tools.forEach(([name, tool], index) => {
      const same = tools.slice(0, index).find(([, other]) => !isDifferent(file, tool, other));
      if (!same) return;
      const message = `its requests cannot be told from those of ${same[0]}, so the fake may answer for either`;
      const hint = "Give one of them a parameter or a body member that is required or constant.";
      problems.warning(["tools", name, "request"], message, hint);
    });
  }
}

function isDifferent(file: ToolFile, one: RequestToolSpec, other: RequestToolSpec): boolean {
  if (one.request.body !== other.request.body || one.request.contentType !== other.request.contentType) return true;
  return hasOwn(marksOf(file, one), namesOf(file, other)) || hasOwn(marksOf(file, other), namesOf(file, one));
}

/** Whether something that is needed here is unknown there, or has another value. */
function hasOwn(marks: Marks, there: Marks): boolean {
  return [...marks].some(([mark, value]) => {
    if (!there.has(mark)) return true;
    const others = there.get(mark);
    return value !== undefined && others !== undefined && value !== others;
  });
}

function marksOf(file: ToolFile, tool: RequestToolSpec): Marks {
  return partsOf(file, tool, ({ optional, default: standard }) => !optional && standard === undefined);
}

function namesOf(file: ToolFile, tool: RequestToolSpec): Marks {
  return partsOf(file, tool, () => true);
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
