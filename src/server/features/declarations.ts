import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { CHANGING_LISTS } from "../../protocol/list-kinds.ts";

/** Programs without types declare anything: a mistake fails where it is made, and not in the first call of a client. */
export function checkServer(options: unknown): void {
  const hint = `Write new McpServer({ name: "greetings", version: "1.0.0" }).`;
  if (!isRecord(options)) throw wrong("A server needs a name and a version", hint);
  for (const member of ["name", "version"]) requireText("The server", options, member, hint);
}

export function checkTool(tool: unknown, run: unknown): void {
  const hint = `Write server.tool({ name: "greet", inputSchema: { … } }, async (args) => "Hello").`;
  const declared = checkDeclaration("tool", tool, { key: "name", handler: run, hint });
  const { inputSchema } = declared;
  if (inputSchema === undefined || (isRecord(inputSchema) && inputSchema["type"] === "object")) return;
  throw wrong(
    `The inputSchema of the tool ${JSON.stringify(declared["name"])} is not a JSON Schema of type "object"`,
    `Write inputSchema: { type: "object", properties: { … } }.`,
  );
}

export function checkResource(resource: unknown, read: unknown): void {
  const hint = `Write server.resource({ uri: "memo://all", name: "all" }, async (uri) => "text").`;
  checkDeclaration("resource", resource, { key: "uri", handler: read, hint });
}

export function checkTemplate(template: unknown, read: unknown): void {
  const hint = `Write server.template({ uriTemplate: "memo://{day}", name: "memo" }, async (uri, { day }) => "text").`;
  const { uriTemplate } = checkDeclaration("template", template, { key: "uriTemplate", handler: read, hint });
  if (!/[{}]/.test(String(uriTemplate).replaceAll(/\{\w+\}/g, ""))) return;
  throw wrong(
    `The template ${JSON.stringify(uriTemplate)} cannot be read`,
    "Write each variable as {name}, of letters, digits and underscores; operators such as {+path} are not supported.",
  );
}

export function checkPrompt(prompt: unknown, get: unknown): void {
  const hint = `Write server.prompt({ name: "remind" }, async (args) => "Remind me").`;
  checkDeclaration("prompt", prompt, { key: "name", handler: get, hint });
}

export function checkList(list: unknown): void {
  if (CHANGING_LISTS.some((known) => known === list)) return;
  const known = CHANGING_LISTS.map((each) => JSON.stringify(each)).join(", ");
  throw wrong(`${JSON.stringify(list)} is not a list of a server`, `Use one of ${known}.`);
}

interface Expected {
  /** The member that identifies it. */
  key: string;
  handler: unknown;
  hint: string;
}

function checkDeclaration(kind: string, declared: unknown, { key, handler, hint }: Expected): Record<string, unknown> {
  if (!isRecord(declared)) throw wrong(`A ${kind} is declared by an object, not by ${shown(declared)}`, hint);
  requireText(`A ${kind}`, declared, key, hint);
  const subject = `The ${kind} ${JSON.stringify(declared[key])}`;
  requireText(subject, declared, "name", hint);
  if (typeof handler !== "function")
    throw wrong(`${subject} has no handler: ${shown(handler)} is not a function`, hint);
  return declared;
}

function requireText(subject: string, declared: Record<string, unknown>, member: string, hint: string): void {
  const value = declared[member];
  if (value === undefined) throw wrong(`${subject} has no "${member}"`, hint);
  if (typeof value !== "string" || value === "")
    throw wrong(`${subject} needs a "${member}" of text, not ${shown(value)}`, hint);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return isRecord(value) ? "an object" : String(value);
}

function wrong(message: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}
