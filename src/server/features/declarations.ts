import { wrongOption } from "../../errors/check-options.ts";
import { isRecord } from "../../json/is-record.ts";
import { CHANGING_LISTS } from "../../protocol/list-kinds.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../../protocol/revisions.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../protocol/mcp.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { Completers, PromptFeature, ResourceFeature, TemplateFeature, ToolFeature } from "./features.ts";
import { readSchema } from "./value-check.ts";

// Programs without types declare anything: a mistake fails where it is made, and not in the first call of a client.

const NO_ARGUMENTS = { type: "object", additionalProperties: false };
const URI = /^[a-z][a-z\d+.-]*:/i;
const TOOL_NAME = /^[\w.-]{1,128}$/;

const DESCRIBED = ["title", "description", "icons", "_meta"];
const ANNOTATIONS = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
const PROMPT_ARGUMENT = ["name", "title", "description", "required"];

/** How each kind is declared: what identifies it, further members of its options, and how it is written. */
interface Kind {
  name: string;
  key: "name" | "uri" | "uriTemplate";
  members: readonly string[];
  /** Members of the form with one object that have other names where the key is written first. */
  renamed: Readonly<Record<string, string>>;
  hint: string;
}

const TOOL: Kind = {
  name: "tool",
  key: "name",
  members: ["inputSchema", "outputSchema", "annotations", "execution"],
  renamed: { input: "inputSchema", output: "outputSchema" },
  hint: `Write server.tool("greet", { description: "…", input: { … } }, async (args) => "Hello").`,
};
const RESOURCE: Kind = {
  name: "resource",
  key: "uri",
  members: ["name", "mimeType", "size", "annotations"],
  renamed: {},
  hint: `Write server.resource("memo://all", { name: "all" }, async (uri) => "text").`,
};
const TEMPLATE: Kind = {
  name: "template",
  key: "uriTemplate",
  members: ["name", "mimeType", "annotations"],
  renamed: {},
  hint: `Write server.template("memo://{day}", { name: "memo" }, async (uri, { day }) => "text").`,
};
const PROMPT: Kind = {
  name: "prompt",
  key: "name",
  members: ["input", "arguments"],
  renamed: {},
  hint: `Write server.prompt("remind", { description: "…" }, async (args) => "Remind me").`,
};

/** Members of the options of a server, beside those that clients are told. */
const SERVER_OPTIONS = [
  "instructions",
  "revisions",
  "pageSize",
  "ttlMs",
  "stateKey",
  "capabilities",
  "legacyTasks",
  "checkValues",
];
const IMPLEMENTATION = ["name", "version", "title", "description", "icons", "websiteUrl", "_meta"];

export function checkServer(options: unknown, others: readonly unknown[]): void {
  const hint = `Write new McpServer({ name: "greetings", version: "1.0.0" }).`;
  if (others.length > 0)
    throw wrongOption("A server takes one object", `Put all options into it: { name, version, instructions: "…" }.`);
  if (!isRecord(options)) throw wrongOption("A server needs a name and a version", hint);
  for (const member of ["name", "version"]) requireText("The server", options, member, hint);
  requireKnown("The server", options, [...IMPLEMENTATION, ...SERVER_OPTIONS]);
  const { revisions = REVISIONS, pageSize = 1 } = options;
  const useRevisions = `Use a list of some of ${REVISIONS.join(", ")}, or leave "revisions" out to serve all.`;
  if (!Array.isArray(revisions) || revisions.length === 0)
    throw wrongOption(`The server needs "revisions" as a list with at least one`, useRevisions);
  const unknown = revisions.filter((each) => !REVISIONS.includes(each)).map(shown);
  if (unknown.length > 0) throw wrongOption(`A server cannot serve the revision ${unknown.join(", ")}`, useRevisions);
  if (!Number.isInteger(pageSize) || Number(pageSize) < 1) {
    throw wrongOption(`${shown(pageSize)} is not the size of a page`, `Use a whole number from 1, or leave it out.`);
  }
}

const REVISIONS: readonly unknown[] = [...MODERN_REVISIONS, ...LEGACY_REVISIONS];

/** `isChecked`: values are checked; otherwise the handlers do so. */
export function readTool(given: readonly unknown[], isChecked: boolean): ToolFeature {
  const { declared, handler, subject } = readDeclaration(TOOL, given, isChecked);
  const { inputSchema = NO_ARGUMENTS, outputSchema, annotations } = declared;
  const name = String(declared["name"]);
  if (isChecked) {
    if (!TOOL_NAME.test(name)) throw wrongOption(`${subject} has a name that clients refuse`, RIGHT_NAME);
    if (isRecord(annotations)) checkAnnotations(`The value "annotations" of ${lower(subject)}`, annotations);
  }
  const input = readSchema(inputSchema, { side: "input", subject: `The input of ${lower(subject)}` }, isChecked);
  const output =
    outputSchema === undefined
      ? undefined
      : readSchema(outputSchema, { side: "output", subject: `The output of ${lower(subject)}` }, isChecked);
  const tool = {
    ...declared,
    inputSchema: objectSchema(input.json, subject),
    ...(output && { outputSchema: output.json }),
  } as unknown as Tool;
  const run = handler as ToolFeature["run"];
  return isChecked ? { tool, run, input, output } : { tool, run };
}

function checkAnnotations(subject: string, annotations: Record<string, unknown>): void {
  requireKnown(subject, annotations, ANNOTATIONS);
  for (const [name, value] of Object.entries(annotations)) {
    const is = name === "title" ? "string" : "boolean";
    if (value === undefined || typeof value === is) continue;
    throw wrongOption(`${subject} has a "${name}" of ${shown(value)}`, "A hint is true or false, and a title is text.");
  }
}

const RIGHT_NAME = "Use letters, digits, underscores, hyphens and dots, up to 128 of them.";

/** MCP demands the type; libraries leave it out where there are alternatives. */
function objectSchema(json: Record<string, unknown>, subject: string): Record<string, unknown> {
  if (json["type"] === "object") return json;
  const hasAlternatives = ["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => json[keyword] !== undefined);
  if (json["type"] === undefined && hasAlternatives) return { ...json, type: "object" };
  throw wrongOption(
    `The input of ${lower(subject)} is not a schema of type "object"`,
    `Write input: { type: "object", properties: { … } }, or z.object({ … }) of zod: each property is an argument.`,
  );
}

export function readResource(given: readonly unknown[], isChecked: boolean): ResourceFeature {
  const { declared, handler, subject } = readDeclaration(RESOURCE, given, isChecked);
  if (isChecked && /[{}]/.test(String(declared["uri"]))) {
    throw wrongOption(`${subject} has variables in its URI`, "Declare it with server.template: it has many URIs.");
  }
  if (isChecked && !URI.test(String(declared["uri"]))) {
    throw wrongOption(`${subject} has no URI that clients accept`, 'Begin it with a scheme: "memo://all".');
  }
  return { resource: declared as unknown as Resource, read: handler as ResourceFeature["read"] };
}

export function readTemplate(given: readonly unknown[], isChecked: boolean): TemplateFeature {
  const { declared, handler, complete, subject } = readDeclaration(TEMPLATE, given, isChecked);
  const uriTemplate = String(declared["uriTemplate"]);
  if (/[{}]/.test(uriTemplate.replaceAll(/\{\w+\}/g, ""))) {
    throw wrongOption(
      `${subject} cannot be read`,
      "Write each variable as {name}, of letters, digits and underscores; operators such as {+path} are not supported.",
    );
  }
  const variables = Array.from(uriTemplate.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  if (isChecked && variables.length === 0) {
    throw wrongOption(
      `${subject} has no variables`,
      "Write {name} where it has one, or declare it with server.resource.",
    );
  }
  requireCompleted(subject, complete, variables);
  return { template: declared as unknown as ResourceTemplate, read: handler as TemplateFeature["read"], complete };
}

export function readPrompt(given: readonly unknown[], isChecked: boolean): PromptFeature {
  const { declared, handler, complete, subject } = readDeclaration(PROMPT, given, isChecked);
  const { input: schema, ...shown } = declared;
  const get = handler as PromptFeature["get"];
  if (schema === undefined) {
    const listed = promptArguments(subject, shown["arguments"], isChecked);
    requireCompleted(subject, complete, listed);
    return { prompt: shown as unknown as Prompt, get, complete };
  }
  if (shown["arguments"] !== undefined) {
    throw wrongOption(`${subject} has "input" and "arguments"`, `Remove "arguments": it follows from "input".`);
  }
  const input = readSchema(schema, { side: "input", subject: `The input of ${lower(subject)}` }, isChecked);
  const json = objectSchema(input.json, subject);
  if (isChecked && isRecord(schema) && schema["~standard"] === undefined) requireTexts(subject, json);
  const listed = listedArguments(json);
  requireCompleted(
    subject,
    complete,
    listed.map(({ name }) => name),
  );
  return { prompt: { ...shown, arguments: listed } as unknown as Prompt, get, complete, ...(isChecked && { input }) };
}

/** Arguments of prompts are texts; schemas of libraries can read numbers from them. */
function requireTexts(subject: string, { properties }: Record<string, unknown>): void {
  for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
    const type = isRecord(schema) ? schema["type"] : undefined;
    if (type === undefined || [type].flat().includes("string")) continue;
    throw wrongOption(
      `${subject} has an argument "${name}" that is not text`,
      'Arguments of prompts are texts: write { type: "string" }, with a pattern where not every text will do.',
    );
  }
}

/** What lists show of a schema of arguments. */
function listedArguments({ properties, required }: Record<string, unknown>): { name: string }[] {
  const needed = Array.isArray(required) ? (required as unknown[]) : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => {
    const { title, description } = isRecord(schema) ? schema : {};
    return {
      name,
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
      ...(needed.includes(name) && { required: true }),
    };
  });
}

function promptArguments(subject: string, listed: unknown, isChecked: boolean): string[] {
  if (listed === undefined) return [];
  const hint = `Write arguments: [{ name: "day", required: true }], or input with a schema.`;
  if (!Array.isArray(listed)) throw wrongOption(`The arguments of ${lower(subject)} are not a list`, hint);
  return listed.map((each: unknown) => {
    const what = `An argument of ${lower(subject)}`;
    if (!isRecord(each)) throw wrongOption(`${what} is ${shown(each)} and not an object`, hint);
    requireText(what, each, "name", hint);
    if (isChecked) requireKnown(what, each, PROMPT_ARGUMENT);
    return String(each["name"]);
  });
}

function requireCompleted(subject: string, complete: Completers | undefined, names: readonly string[]): void {
  for (const [name, completer] of Object.entries(complete ?? {})) {
    if (completer !== undefined && typeof completer !== "function") {
      throw wrongOption(
        `${subject} completes "${name}" by ${shown(completer)}`,
        `Write complete: { ${name}: oneOf("…") }.`,
      );
    }
    if (names.includes(name)) continue;
    const near = nearestName(name, names);
    const hint =
      near === undefined ? `It has ${names.length === 0 ? "none" : names.join(", ")}.` : `Did you mean "${near}"?`;
    throw wrongOption(`${subject} completes "${name}", which it does not have`, hint);
  }
}

export function checkList(list: unknown): void {
  if (CHANGING_LISTS.some((known) => known === list)) return;
  const known = CHANGING_LISTS.map((each) => JSON.stringify(each)).join(", ");
  throw wrongOption(`${JSON.stringify(list)} is not a list of a server`, `Use one of ${known}.`);
}

interface Declaration {
  declared: Record<string, unknown>;
  handler: unknown;
  complete: Completers | undefined;
  /** `The tool "greet"`. */
  subject: string;
}

/**
 * Both forms: the key, options and the handler; or one object, the handler and the suggestions. Members without a value are
 * left out.
 */
function readDeclaration(kind: Kind, given: readonly unknown[], isChecked: boolean): Declaration {
  const { name: what, key, hint } = kind;
  const isKeyed = typeof given[0] === "string";
  const [first, handler, last] = isKeyed ? given.slice(1) : given;
  if (!isRecord(first)) {
    const options = isKeyed ? `The options of the ${what} ${JSON.stringify(given[0])} are` : `A ${what} is declared by`;
    throw wrongOption(
      isKeyed ? `${options} ${shown(first)} and not an object` : `${options} an object, not by ${shown(first)}`,
      hint,
    );
  }
  // It also comes first in lists, and no option takes its place.
  const own = isKeyed ? { [key]: given[0], ...first, [key]: given[0] } : first;
  requireText(`A ${what}`, own, key, hint);
  const subject = `The ${what} ${JSON.stringify(own[key])}`;
  const renamed = isKeyed ? kind.renamed : {};
  const hidden = Object.values(renamed);
  const known = [
    key,
    ...DESCRIBED,
    ...kind.members.filter((member) => !hidden.includes(member)),
    ...Object.keys(renamed),
  ];
  const completes = kind === PROMPT || kind === TEMPLATE;
  if (isChecked) requireKnown(subject, own, [...known, ...(completes && isKeyed ? ["complete"] : [])]);
  const { complete: written, ...members } = own;
  const declared = Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[(Object.hasOwn(renamed, name) ? renamed[name] : undefined) ?? name, value]];
    }),
  );
  if (isChecked) requireForms(subject, declared, hint);
  requireText(subject, declared, "name", hint);
  if (typeof handler !== "function")
    throw wrongOption(`${subject} has no handler: ${shown(handler)} is not a function`, hint);
  const beside = isRecord(last) ? last : {};
  if (last !== undefined && !isRecord(last))
    throw wrongOption(`The handler of ${lower(subject)} is followed by ${shown(last)}`, hint);
  requireKnown(`What follows the handler of ${lower(subject)}`, beside, completes && !isKeyed ? ["complete"] : []);
  const complete = (isKeyed ? written : beside["complete"]) as Completers | undefined;
  return { declared, handler, complete, subject };
}

/** A misspelt member would be ignored, or shown to clients that ignore it. */
function requireKnown(subject: string, declared: Record<string, unknown>, known: readonly string[]): void {
  for (const name of Object.keys(declared)) {
    if (known.includes(name)) continue;
    const meant = Object.hasOwn(MEANT, name) ? MEANT[name] : undefined;
    const near = meant?.find((each) => known.includes(each)) ?? nearestName(name, known);
    const others = known.length === 0 ? "Remove it." : `Use ${known.join(", ")}.`;
    const hint = near === undefined ? others : `Did you mean "${near}"?`;
    throw wrongOption(`${subject} has an unknown member "${name}"`, hint);
  }
}

/** What members that clients are shown have to be: clients refuse whole lists for one of another form. */
const FORMS: Readonly<Record<string, { isRight: (value: unknown) => boolean; is: string }>> = {
  title: { isRight: isText, is: "text" },
  description: { isRight: isText, is: "text" },
  mimeType: { isRight: isText, is: "text" },
  size: { isRight: Number.isFinite, is: "a number of bytes" },
  icons: { isRight: (icons) => Array.isArray(icons) && icons.every(isRecord), is: "a list of objects" },
  annotations: { isRight: isRecord, is: "an object" },
  execution: { isRight: isRecord, is: "an object" },
  _meta: { isRight: isRecord, is: "an object" },
};

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function requireForms(subject: string, declared: Record<string, unknown>, hint: string): void {
  for (const [member, { isRight, is }] of Object.entries(FORMS)) {
    const value = declared[member];
    if (value === undefined || isRight(value)) continue;
    throw wrongOption(`${subject} needs "${member}" to be ${is}, not ${shown(value)}`, hint);
  }
}

/** Names of other libraries, or of the other form. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  input: ["inputSchema"],
  output: ["outputSchema"],
  inputSchema: ["input"],
  outputSchema: ["output"],
  parameters: ["input", "inputSchema"],
  schema: ["input", "inputSchema"],
  argsSchema: ["input"],
};

function requireText(subject: string, declared: Record<string, unknown>, member: string, hint: string): void {
  const value = declared[member];
  if (value === undefined) throw wrongOption(`${subject} has no "${member}"`, hint);
  if (typeof value !== "string" || value === "")
    throw wrongOption(`${subject} needs a "${member}" of text, not ${shown(value)}`, hint);
}

function lower(subject: string): string {
  return `${subject.charAt(0).toLowerCase()}${subject.slice(1)}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return isRecord(value) ? "an object" : String(value);
}
