import { isServerId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { flag, type Form, type Given, type Infer, json, list, map, record, text } from "../../format/form.ts";
import type { Part } from "../../format/part.ts";
import { pathText } from "../../format/problem.ts";
import { readValue, type ValueProblem } from "../../format/read-form.ts";
import { covers, parsePattern } from "../../host/directory/policy.ts";
import { isRecord } from "../../json/is-record.ts";
import { quoteWord } from "../../text/shell-words.ts";

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
/** Ids and prefixes of servers come before the mark: `github__search`. */
const FULL_NAME = /^[a-z][a-z0-9-]{0,31}__/;

const PATTERN = text({ empty: true, mostOverNetwork: 500 }).check(requirePattern);
/** They are compared with every tool, in a process that tenants share. */
const PATTERNS = list(PATTERN, { mostOverNetwork: 200 });

const SHOWN = {
  name: text({ empty: true })
    .check(requireName)
    .schema({ pattern: NAME.source })
    .says("Its name in the set, instead of `server__tool`.")
    .optional(),
  description: text({ empty: true }).optional(),
};
const FIXED = "Arguments that are the same in every call: callers neither see nor change them.";
const TOOL = record({ ...SHOWN, arguments: map(json()).says(FIXED).optional() }).named("SetItem");
const PROMPT = record({
  ...SHOWN,
  arguments: map(text({ empty: true }))
    .says(FIXED)
    .optional(),
});

/** The members of the definition of a set. */
export const SET_MEMBERS = {
  description: text({ empty: true, mostOverNetwork: 10_000 })
    .says("What it is for: clients get it as instructions.")
    .option("TEXT")
    .optional(),
  allow: PATTERNS.check(requireContent)
    .schema({ minItems: 1 })
    .says("Patterns of what it contains, as those of keys; at least one.")
    .option("PATTERN", "what the set contains"),
  deny: PATTERNS.says("Patterns of what it does not contain; `deny` wins over `allow`.")
    .option("PATTERN", "what it does not contain")
    .optional(),
  readOnly: flag().says("Only tools that are annotated as read-only, resources and prompts."),
  pin: flag().says("Tools whose definitions have changed are refused until the changes are accepted."),
  tools: shown("tool", TOOL).says("Tools that are shown in another way, by `server.tool`.").optional(),
  prompts: shown("prompt", PROMPT).says("The same for prompts, by `server.prompt`.").optional(),
};

/** How the definition of a set is written. */
export const SET = record(SET_MEMBERS).named("SetDefinition").check(requireConsistent);

/** Tools, resources and prompts of several servers, chosen for a purpose, with an address of their own. */
export type SetDefinition = Given<Infer<typeof SET>>;

/** How a set shows a tool or prompt. */
export type SetItem = Given<Infer<typeof TOOL>>;

/** The server and the server's own name in `server.name`. */
interface ItemKey {
  server: string;
  own: string;
}

type ItemKind = "tool" | "prompt";

export function itemKey(text: string): ItemKey | undefined {
  const dot = text.indexOf(".");
  const server = text.slice(0, dot);
  return dot > 0 && dot < text.length - 1 && isServerId(server) ? { server, own: text.slice(dot + 1) } : undefined;
}

/** Throws if it is not the definition of a set, or if the set could not be served as it says. */
export function parseSetDefinition(given: unknown): SetDefinition {
  if (!isRecord(given)) throw invalid({ message: "A set is an object", hint: `For example {"allow": ["github"]}.` });
  const { value, problems } = readValue(SET, given);
  if (problems[0]) throw invalid(inWords(problems[0]));
  return value;
}

const FORM = `For example {"allow": ["github"], "tools": {"github.search": {"name": "search", "arguments": {"org": "acme"}}}}.`;

function invalid({ message, hint = FORM }: Pick<ValueProblem, "message" | "hint">): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}

/** The problem as a sentence: what a member must be does not name it. */
function inWords({ path, message, hint }: ValueProblem): Pick<ValueProblem, "message" | "hint"> {
  const [kinds, key, ...inner] = path;
  const isOfItem = key !== undefined && inner.length > 0 && (kinds === "tools" || kinds === "prompts");
  const item = isOfItem ? `the ${kinds === "tools" ? "tool" : "prompt"} "${key}"` : "";
  const isPredicate = /^(must|is|has) /.test(message) && path.length > 0;
  const about = isPredicate ? `"${pathText(isOfItem ? inner : path)}" ${item === "" ? "" : `of ${item} `}` : "";
  const where = isPredicate || item === "" || message.includes(item) ? "" : ` in ${item}`;
  return { message: `${about}${message}${where}`, ...(hint === undefined ? {} : { hint }) };
}

function requirePattern(pattern: string, part: Part): void {
  // A set of sets could give arguments that another set keeps fixed.
  if (pattern.startsWith("set:")) {
    part.error(`A set cannot contain another set: ${JSON.stringify(pattern)}`, "Repeat the patterns of that set.");
    return;
  }
  try {
    parsePattern(pattern);
  } catch {
    part.error(
      `${JSON.stringify(pattern)} is not a valid pattern`,
      "A pattern starts with a server id, or with * for every server: github, github.search*, github/resources, '*'.",
    );
  }
}

function requireContent(allow: readonly unknown[], part: Part): void {
  if (allow.length > 0 || part.problems.hasErrors) return;
  part.error("The set would contain nothing", `Name what it contains: --allow github.search, or "allow" in the file.`);
}

/** A name that looks like a full name would become the name of another tool when a server with that id is added. */
function requireName(name: string, part: Part): void {
  const where = `the ${part.path[0] === "tools" ? "tool" : "prompt"} "${part.path[1]}"`;
  if (!NAME.test(name)) {
    const hint = "Use 1 to 128 letters, digits, dashes, dots and underscores.";
    part.error(`${JSON.stringify(name)} is not a valid name for ${where}`, hint);
  } else if (FULL_NAME.test(name)) {
    const hint = `Remove "__" from the name of ${where}.`;
    part.error(`"${name}" looks like the name of another server's tool`, hint);
  }
}

/** What a set says about single tools or prompts. */
function shown<T extends { name?: string }>(kind: ItemKind, item: Form<T>): Form<Record<string, T>> {
  const names = text({ empty: true }).check((key, part) => {
    if (key.includes("*")) {
      part.keyError(
        `"${key}" is a pattern: names, descriptions and arguments are for one ${kind} at a time`,
        `Repeat it for each ${kind}, as server.${kind}. "allow" and "deny" take patterns.`,
      );
    } else if (!itemKey(key)) {
      part.keyError(`"${key}" is not the name of a ${kind}`, `Use server.${kind}, for example github.search.`);
    }
  });
  // Each is compared with the patterns of the set, in a process that tenants share.
  return map(item, { names, mostOverNetwork: 1_000 }).check((items, part) => {
    const taken = new Map<string, string>();
    for (const [key, { name }] of Object.entries(items)) {
      const other = name === undefined ? undefined : taken.get(name);
      if (other !== undefined) {
        const hint = "Choose another name for one of them.";
        part.part(key).error(`"${other}" and "${key}" would both be called "${name}"`, hint);
      }
      if (name !== undefined) taken.set(name, key);
    }
  });
}

/** What is said about tools and prompts is about those that the set contains. */
export function requireConsistent(set: Pick<SetDefinition, "allow" | "deny">, part: Part): void {
  if (part.problems.hasErrors) return;
  requireContained("tool", set, part.part("tools"));
  requireContained("prompt", set, part.part("prompts"));
}

/** A name or fixed argument for something that the set does not contain is a mistake. */
function requireContained(
  kind: ItemKind,
  { allow, deny = [] }: Pick<SetDefinition, "allow" | "deny">,
  items: Part,
): void {
  const [allowed, denied] = [allow.map(parsePattern), deny.map(parsePattern)];
  for (const [key, part] of items.entries()) {
    const { server, own: name } = itemKey(key) ?? { server: "", own: "" };
    const isIn = (pattern: (typeof allowed)[number]) => covers(pattern, { kind, server, name });
    const denying = denied.find(isIn);
    if (denying) {
      part.keyError(
        `The ${kind} "${key}" is not in the set: it is denied by "${denying.text}"`,
        `Change that pattern of "deny", or remove what is said about the ${kind}.`,
      );
    } else if (!allowed.some(isIn)) {
      // A pattern cannot name a single prompt.
      const pattern = kind === "tool" ? key : `${server}/prompts`;
      part.keyError(
        `The ${kind} "${key}" is not in the set`,
        `Add it with --allow ${quoteWord(pattern)}, or remove what is said about it.`,
      );
    }
  }
}
