import { checkAdvice } from "./check/check-advice.ts";
import { checkQuestions } from "./check/check-questions.ts";
import { checkCredentials } from "./check/check-credentials.ts";
import { checkExpressions } from "./check/check-expressions.ts";
import { checkGiven } from "./check/check-given.ts";
import { checkPaging } from "./check/check-paging.ts";
import { checkRecursion } from "./check/check-recursion.ts";
import { checkSameRequests } from "./check/check-same-requests.ts";
import { checkRequests } from "./check/check-requests.ts";
import { checkUnions } from "./check/check-unions.ts";
import { checkSteps } from "./check/check-steps.ts";
import { checkTakenNames } from "./check/check-taken-names.ts";
import { checkWires } from "./check/check-wires.ts";
import { Part } from "../../format/part.ts";
import { readPart } from "../../format/read-form.ts";
import { parseDuration } from "../../text/duration.ts";
import { Problems, TooManyErrors, type Problem } from "../../format/problem.ts";
import { TOOL_FILE } from "./forms/tool-file.ts";
import { DEFAULT_TIMEOUT_MS, FileNames, MAX_TIMEOUT_MS } from "./forms/parts.ts";
import { withDiscriminatorFields } from "./complete/discriminator-fields.ts";
import { withIncluded } from "./complete/included-types.ts";
import { writtenOut } from "./complete/short-forms.ts";
import type { ToolFile } from "./model/tool-file.ts";
import { withWires } from "./complete/wire-defaults.ts";
import type { SourceNode } from "../../source/source-node.ts";
import { readYaml } from "./model/read-yaml.ts";

/** Checks that need the whole file. */
const CHECKS = [
  checkSteps,
  checkPaging,
  checkRequests,
  checkRecursion,
  checkUnions,
  checkCredentials,
  checkWires,
  checkTakenNames,
  checkExpressions,
  checkGiven,
  checkSameRequests,
  checkAdvice,
  checkQuestions,
];

/** Reads a tool file and returns it with all problems; `file` is present if there are no errors. */
export function readToolFile(text: string, source: string): { file: ToolFile | undefined; problems: Problem[] } {
  const { tree, problems } = readYaml(text);
  return tree ? readTree(tree, source, problems) : { file: undefined, problems };
}

/** Reads a tool file whose YAML was read. `mistakes`: those of the YAML. */
export function readTree(
  tree: SourceNode,
  source: string,
  mistakes: readonly Problem[] = [],
): { file: ToolFile | undefined; problems: Problem[] } {
  const { tree: whole, misuses } = writtenOut(tree);
  const problems = new Problems(whole);
  const file = untilTooMany(() => {
    for (const { path, message, hint } of misuses) problems.error(path, message, hint);
    return readWhole(whole, problems, source);
  }, problems);
  const all = [...mistakes, ...problems.all()].sort((a, b) => a.line - b.line || a.column - b.column);
  return { file: all.some(({ severity }) => severity === "error") ? undefined : file, problems: all };
}

function untilTooMany(read: () => ToolFile | undefined, problems: Problems): ToolFile | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooManyErrors) return undefined;
    if (!(error instanceof RangeError)) throw error;
    // The stack ended: types that contain each other are followed by recursion.
    problems.error([], "its types or expressions are nested too deeply to be read", "Make it flatter.");
    return undefined;
  }
}

function readWhole(tree: SourceNode, problems: Problems, source: string): ToolFile | undefined {
  const part = new Part(tree, [], problems);
  if (!part.isMap) {
    part.error(`${source} is not a tool file`, "It begins with nexus: 1.");
    return undefined;
  }
  if (!part.has("nexus") && (part.has("openapi") || part.has("swagger"))) {
    const hint = "A tool file is written beside it, and says which of its operations become tools.";
    part.error(`${source} is an OpenAPI description, not a tool file`, hint);
    return undefined;
  }
  const written = readPart(TOOL_FILE, new Part(tree, [], problems, { context: namesIn(part) }));
  const types = part.part("types");
  const whole = withIncluded(written.types, types);
  const file: ToolFile = { ...written, types: withDiscriminatorFields(whole.types) };
  const fieldsOf = new Map(types.entries().map(([name, type]) => [name, type.part("fields")]));
  const isWritten = (type: string, field: string) =>
    fieldsOf.get(whole.ownerOf(type, field))?.part(field).has("wire") === true;
  const complete = withWires(file, isWritten);
  for (const check of CHECKS) check(complete, problems, whole);
  return complete;
}

/** What the parts of the file have to know of each other. */
function namesIn(part: Part): FileNames {
  const namesOf = (section: string) => {
    const { node } = part.part(section);
    return node?.kind === "object" ? node.members.map(({ key }) => key) : [];
  };
  const timeout = parseDuration(part.part("upstream").part("timeout").value());
  const isTimeout = timeout !== undefined && timeout > 0 && timeout <= MAX_TIMEOUT_MS;
  return new FileNames({
    types: new Set(namesOf("types")),
    documents: namesOf("documents"),
    timeoutMs: isTimeout ? timeout : DEFAULT_TIMEOUT_MS,
  });
}
