import { isServerId } from "../../config/read/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { covers, parsePattern } from "../../host/directory/access-pattern.ts";
import { isRecord } from "../../json/is-record.ts";
import { quoteWord } from "../../text/shell-words.ts";

/** Tools, resources and prompts of several servers, chosen for a purpose, with an address of their own. */
export interface SetDefinition {
  /** What it is for: clients get it as instructions. */
  readonly description?: string | undefined;
  /** Patterns of what it contains, as in `PolicySettings`; at least one. */
  readonly allow: readonly string[];
  /** Patterns of what it does not contain; `deny` wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
  /** Only tools that are annotated as read-only, resources and prompts. */
  readonly readOnly?: boolean | undefined;
  /** Tools whose definitions have changed are refused until the changes are accepted. */
  readonly pin?: boolean | undefined;
  /** Tools that are shown in another way, by `server.tool`. */
  readonly tools?: Readonly<Record<string, SetItem>> | undefined;
  /** The same for prompts, by `server.prompt`. */
  readonly prompts?: Readonly<Record<string, SetItem>> | undefined;
}

/** How a set shows a tool or prompt. */
export interface SetItem {
  /** Its name in the set, instead of `server__tool`. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Arguments that are the same in every call: callers neither see nor change them. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** The server and the server's own name in `server.name`. */
export interface ItemKey {
  server: string;
  own: string;
}

type ItemKind = "tool" | "prompt";

const FORM = `For example {"allow": ["github"], "tools": {"github.search": {"name": "search", "arguments": {"org": "acme"}}}}.`;
const KEYS = new Set(["description", "allow", "deny", "readOnly", "pin", "tools", "prompts"]);
const ITEM_KEYS = new Set(["name", "description", "arguments"]);
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
/** Ids and prefixes of servers come before the mark: `github__search`. */
const FULL_NAME = /^[a-z][a-z0-9-]{0,31}__/;

export function itemKey(text: string): ItemKey | undefined {
  const dot = text.indexOf(".");
  const server = text.slice(0, dot);
  return dot > 0 && dot < text.length - 1 && isServerId(server) ? { server, own: text.slice(dot + 1) } : undefined;
}

/** Throws if it is not the definition of a set, or if the set could not be served as it says. */
export function parseSetDefinition(value: unknown): SetDefinition {
  if (!isRecord(value)) throw invalid("A set is an object", `For example {"allow": ["github"]}.`);
  refuseUnknownKeys(value, KEYS, "a set");
  const { description, allow, deny, readOnly, pin, tools, prompts } = value;
  if (!isOptional("string", description)) throw invalid(`"description" must be a text`);
  for (const [name, flag] of Object.entries({ readOnly, pin })) {
    if (!isOptional("boolean", flag)) throw invalid(`"${name}" must be true or false`);
  }
  const definition: SetDefinition = {
    ...(typeof description === "string" ? { description } : {}),
    allow: patterns("allow", allow),
    ...(deny === undefined ? {} : { deny: patterns("deny", deny) }),
    ...(readOnly === true ? { readOnly } : {}),
    ...(pin === true ? { pin } : {}),
    ...(tools === undefined ? {} : { tools: items("tool", tools) }),
    ...(prompts === undefined ? {} : { prompts: items("prompt", prompts) }),
  };
  if (definition.allow.length === 0) {
    throw invalid(
      "The set would contain nothing",
      `Name what it contains: --allow github.search, or "allow" in the file.`,
    );
  }
  requireContained("tool", definition);
  requireContained("prompt", definition);
  return definition;
}

function patterns(member: string, value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (!isList)
    throw invalid(`"${member}" must be a list of patterns`, `For example ["github.search*", "docs/resources"].`);
  for (const pattern of value) {
    // A set of sets could give arguments that another set keeps fixed.
    if (pattern.startsWith("set:")) {
      throw invalid(`A set cannot contain another set: ${JSON.stringify(pattern)}`, "Repeat the patterns of that set.");
    }
    try {
      parsePattern(pattern);
    } catch {
      throw invalid(
        `${JSON.stringify(pattern)} is not a valid pattern`,
        "A pattern starts with a server id, or with * for every server: github, github.search*, github/resources, '*'.",
      );
    }
  }
  return value;
}

function items(kind: ItemKind, value: unknown): Readonly<Record<string, SetItem>> {
  if (!isRecord(value))
    throw invalid(`"${kind}s" must be an object`, `For example {"github.search": {"name": "search"}}.`);
  const taken = new Map<string, string>();
  const entries = Object.entries(value).map(([key, written]): [string, SetItem] => {
    const where = `${kind} "${key}"`;
    if (key.includes("*"))
      throw invalid(
        `"${key}" is a pattern: names, descriptions and arguments are for one ${kind} at a time`,
        `Repeat it for each ${kind}, as server.${kind}. "allow" and "deny" take patterns.`,
      );
    if (!itemKey(key))
      throw invalid(`"${key}" is not the name of a ${kind}`, `Use server.${kind}, for example github.search.`);
    if (!isRecord(written)) throw invalid(`The ${where} must be an object`);
    refuseUnknownKeys(written, ITEM_KEYS, where);
    const { name, description, arguments: fixed } = written;
    if (name !== undefined) requireName(name, where);
    if (!isOptional("string", description)) throw invalid(`"description" of the ${where} must be a text`);
    if (fixed !== undefined && !isFixed(kind, fixed)) {
      const values = kind === "prompt" ? " with texts as values" : "";
      throw invalid(`"arguments" of the ${where} must be an object${values}`);
    }
    const other = typeof name === "string" ? taken.get(name) : undefined;
    if (other !== undefined)
      throw invalid(
        `"${other}" and "${key}" would both be called "${String(name)}"`,
        "Choose another name for one of them.",
      );
    if (typeof name === "string") taken.set(name, key);
    return [key, written];
  });
  return Object.fromEntries(entries);
}

function isFixed(kind: ItemKind, value: unknown): boolean {
  return isRecord(value) && (kind === "tool" || Object.values(value).every((each) => typeof each === "string"));
}

/** A name that looks like a full name would become the name of another tool when a server with that id is added. */
function requireName(name: unknown, where: string): void {
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalid(
      `${JSON.stringify(name)} is not a valid name for the ${where}`,
      "Use 1 to 128 letters, digits, dashes, dots and underscores.",
    );
  }
  if (FULL_NAME.test(name)) {
    throw invalid(
      `"${name}" looks like the name of another server's tool`,
      `Remove "__" from the name of the ${where}.`,
    );
  }
}

/** A name or fixed argument for something that the set does not contain is a mistake. */
function requireContained(kind: ItemKind, { allow, deny = [], tools = {}, prompts = {} }: SetDefinition): void {
  const [allowed, denied] = [allow.map(parsePattern), deny.map(parsePattern)];
  for (const key of Object.keys(kind === "tool" ? tools : prompts)) {
    const { server, own: name } = itemKey(key) ?? { server: "", own: "" };
    const isIn = (pattern: (typeof allowed)[number]) => covers(pattern, { kind, server, name });
    const denying = denied.find(isIn);
    if (denying) {
      throw invalid(
        `The ${kind} "${key}" is not in the set: it is denied by "${denying.text}"`,
        `Change that pattern of "deny", or remove what is said about the ${kind}.`,
      );
    }
    if (allowed.some(isIn)) continue;
    // A pattern cannot name a single prompt.
    const pattern = kind === "tool" ? key : `${server}/prompts`;
    throw invalid(
      `The ${kind} "${key}" is not in the set`,
      `Add it with --allow ${quoteWord(pattern)}, or remove what is said about it.`,
    );
  }
}

function refuseUnknownKeys(value: Record<string, unknown>, known: ReadonlySet<string>, where: string): void {
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw invalid(`${JSON.stringify(unknown)} is unknown in ${where}`, `Known are: ${[...known].join(", ")}.`);
}

function isOptional(type: "string" | "boolean", value: unknown): boolean {
  return value === undefined || typeof value === type;
}

function invalid(message: string, hint = FORM): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}
