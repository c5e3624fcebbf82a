import type { NextPage, FieldSpec, RequestToolSpec, ToolFile } from "../model/tool-file.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import { requestTools } from "../model/request-tools.ts";
import { fieldsTaken } from "../complete/uses.ts";
import { checkExpression } from "./check-expressions.ts";
import { joined, knownType, SINGLE, withMembers, type KnownValue } from "./known-value.ts";

/** Paging: the places that it names, and whether pages can be requested again. */
export function checkPaging(file: ToolFile, problems: Problems): void {
  for (const [name, tool] of requestTools(file)) {
    if (tool.paging) checkTool(file, tool, ["tools", name, "paging"], problems);
  }
}

function checkTool(file: ToolFile, tool: RequestToolSpec, path: Path, problems: Problems): void {
  const { paging, effect, response } = tool;
  if (!paging) return;
  if (effect !== "read") problems.error(path, `the tool is ${effect}, and only reads have pages`);
  if (response.type === undefined) {
    problems.error(path, "the answer has no type, so it has no list of items", "Give response.type.");
    return;
  }
  const answer = knownType(file, response.type);
  const items = valueAt(answer, paging.items);
  const at = [...path, "items"];
  if (!items) problems.error(at, `the answer has no field "${paging.items}"`);
  else if (items.kind === "single" || items.kind === "object") problems.error(at, `"${paging.items}" is not a list`);
  if (paging.last !== undefined) {
    const scope = joined(answer, withMembers({ input: knownType(file, tool.input), status: SINGLE }));
    checkExpression(paging.last, { scope }, [...path, "last"], problems);
  }
  checkNext(file, tool, paging.next, { answer, path: [...path, paging.next.kind], problems });
  const more = file.types[response.type]?.fields["more"];
  if (more && !more.hidden) {
    const hint = "Call it otherwise, and say with wire how it is called upstream.";
    problems.keyError(["types", response.type, "fields", "more"], "is where results say that there is more", hint);
  }
}

function checkNext(
  file: ToolFile,
  tool: RequestToolSpec,
  next: NextPage,
  { answer, path, problems }: { answer: KnownValue; path: Path; problems: Problems },
): void {
  if (next.kind === "link" || next.kind === "cursor") {
    const from = next.kind === "cursor" ? [...path, "from"] : path;
    if (next.from !== undefined && !valueAt(answer, next.from)) {
      problems.error(from, `the answer has no field "${next.from}"`);
    }
  }
  if (next.kind === "link") {
    if (tool.request.method !== "GET")
      problems.error(path, "a link is requested with GET, which the tool does not use");
    return;
  }
  const fields = file.types[tool.input]?.fields ?? {};
  const to = Object.hasOwn(fields, next.to) ? fields[next.to] : undefined;
  const at = [...path, "to"];
  if (!to) problems.error(at, `the input has no field "${next.to}"`);
  else checkTarget(to, next, at, problems);
  const isSent = fieldsTaken(tool.request).includes(next.to) || tool.request.body !== undefined;
  if (to && !isSent) problems.error(at, `"${next.to}" is not sent`, "Put it into path, query, headers or the body.");
  if (next.kind === "cursor" || typeof next.size !== "string") return;
  const size = Object.hasOwn(fields, next.size) ? fields[next.size] : undefined;
  if (!size || !isNumber(size)) problems.error([...path, "size"], `the input has no number "${next.size}"`);
}

function checkTarget(to: FieldSpec, next: NextPage, at: Path, problems: Problems): void {
  if (to.hidden || to.const !== undefined || to.value !== undefined) {
    problems.error(
      at,
      "callers cannot give it, so they could not go on from a page",
      "Make it a plain optional field.",
    );
  } else if (!to.optional && to.default === undefined) {
    problems.error(at, "is required, but the first page has none yet", "Write optional: true, or a default.");
  }
  if (next.kind !== "cursor" && !isNumber(to)) problems.error(at, "is not a number");
}

function isNumber({ shape }: FieldSpec): boolean {
  return shape.kind === "scalar" && (shape.type === "integer" || shape.type === "number");
}

/** The value at a path of fields; undefined if there is no such field. */
function valueAt(value: KnownValue, path: string): KnownValue | undefined {
  let found: KnownValue | undefined = value;
  for (const name of path.split(".")) {
    if (found?.kind === "anything") return found;
    found = found?.kind === "object" ? found.members.get(name)?.() : undefined;
  }
  return found;
}
