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
import { Part, present } from "../../format/part.ts";
import { Problems, TooManyErrors, type Problem } from "../../format/problem.ts";
import { readDocuments } from "./read/read-documents.ts";
import { readFake } from "./read/read-fake.ts";
import { readSecrets } from "./read/secrets/read-secrets.ts";
import { readSettings } from "./read/read-settings.ts";
import { readTools } from "./read/read-tool.ts";
import { readTypes } from "./read/read-types.ts";
import { readQuestions } from "./read-questions.ts";
import { withDiscriminatorFields } from "./read/discriminator-fields.ts";
import { withIncluded } from "./read/included-types.ts";
import { readUpstream } from "./read/read-upstream.ts";
import { writtenOut } from "./read/short-forms.ts";
import type { ToolFile } from "./model/tool-file.ts";
import { withWires } from "./wire-defaults.ts";
import type { SourceNode } from "../../source/source-node.ts";
import { readYaml } from "./model/read-yaml.ts";

const KEYS = [
  "nexus",
  "api",
  "title",
  "description",
  "version",
  "documents",
  "upstream",
  "namespaces",
  "secrets",
  "settings",
  "types",
  "tools",
  "fake",
  "questions",
];
const REQUIRED = ["nexus", "api", "title", "version", "upstream", "types", "tools"];

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
  part.members(KEYS, REQUIRED);
  if (part.has("nexus") && part.part("nexus").value() !== 1) {
    part.part("nexus").error("must be 1, the version of this grammar");
  }
  const api = part.part("api").text() ?? "";
  if (part.part("api").isText && !/^[a-z][a-z0-9-]{0,31}$/.test(api)) {
    part
      .part("api")
      .error(`"${api}" cannot be an id`, "At most 32 small letters, digits and -, beginning with a letter.");
  }
  const documents = readDocuments(part.part("documents"));
  const known = {
    types: new Set(
      part
        .part("types")
        .entries()
        .map(([name]) => name),
    ),
    documents: Object.keys(documents),
  };
  const whole = withIncluded(readTypes(part.part("types"), known), part.part("types"));
  const upstream = readUpstream(part.part("upstream"));
  const file: ToolFile = present({
    nexus: 1 as const,
    api,
    title: part.part("title").text() ?? "",
    description: part.part("description").text(),
    version: part.part("version").text() ?? "",
    documents,
    upstream,
    namespaces: readNamespaces(part.part("namespaces")),
    secrets: readSecrets(part.part("secrets")),
    settings: readSettings(part.part("settings"), known.documents),
    types: withDiscriminatorFields(whole.types),
    tools: readTools(part.part("tools"), known, upstream.timeoutMs),
    fake: readFake(part.part("fake")),
    questions: readQuestions(part.part("questions"), known.documents),
  });
  const fieldsOf = new Map(
    part
      .part("types")
      .entries()
      .map(([name, type]) => [name, type.part("fields")]),
  );
  const isWritten = (type: string, field: string) =>
    fieldsOf.get(whole.ownerOf(type, field))?.part(field).has("wire") === true;
  const complete = withWires(file, isWritten);
  for (const check of CHECKS) check(complete, problems, whole);
  return complete;
}

function readNamespaces(part: Part): Record<string, string> {
  return Object.fromEntries(
    part.entries().map(([prefix, uri]) => {
      if (!/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(prefix) || /^xml/i.test(prefix)) {
        uri.keyError(`"${prefix}" cannot be a prefix`);
      }
      // An empty one is for elements without a namespace.
      return [prefix, uri.value() === "" ? "" : (uri.text() ?? "")];
    }),
  );
}
