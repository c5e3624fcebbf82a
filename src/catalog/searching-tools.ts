import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import { INVALID_PARAMS } from "../protocol/json-rpc.ts";
import type { CallToolResult, Tool, ToolAnnotations } from "../protocol/mcp.ts";
import { CALL_TOOL, CALLS_META, DESCRIBE_TOOL, FINDS_META, SEARCH_TOOLS } from "../protocol/meta.ts";
import { compileSchema, type SchemaValidator } from "../schema/validator.ts";
import { nearNames } from "../text/nearest-name.ts";
import { shorten } from "../text/shorten.ts";
import { visible } from "../text/visible.ts";

/** What a tool does, as its annotations say: one without any may write. */
type ToolEffect = "read" | "write" | "destructive";
const EFFECTS: readonly ToolEffect[] = ["read", "write", "destructive"];

/** The most tools that one search gives, and how many it gives if nothing is asked for. */
const MOST = 50;
const USUAL = 10;
/** Servers that a description names. */
const MOST_NAMED = 40;
/** Of a name that a model made up. */
const MAX_NAME = 200;
/** Arguments with more members are not compared with a schema: callers choose how many they send. */
const MOST_MEMBERS = 50;
/** In characters. */
const MAX_PROBLEMS = 1_000;

interface SearchingOptions {
  /** Whose tools are searched, and how many each has. */
  servers: readonly SearchedServer[];
  /** That of the gravest tool that call_tool can call. */
  effect: ToolEffect;
  /** Whether describe_tool gives large definitions in parts. */
  hasParts?: boolean;
}

interface SearchedServer {
  server: string;
  tools: number;
}

/** The definitions of the three tools with which others are found, described and called. */
interface SearchingTools {
  search: Tool;
  describe: Tool;
  call: Tool;
}

export function effectOf(annotations: ToolAnnotations | undefined): ToolEffect {
  if (annotations?.readOnlyHint === true) return "read";
  return annotations?.destructiveHint === true ? "destructive" : "write";
}

/** How many tools a search gives. */
export function limitIn(args: Readonly<Record<string, unknown>>): number {
  return typeof args["limit"] === "number" ? args["limit"] : USUAL;
}

export function searchingTools({ servers, effect, hasParts = false }: SearchingOptions): SearchingTools {
  const where = namedServers(servers);
  return {
    search: {
      name: SEARCH_TOOLS,
      title: "Search tools",
      description: `Finds tools by words such as "create invoice", or by name. Read the arguments of a tool with ${DESCRIBE_TOOL}, and call it with ${CALL_TOOL}. ${where}`,
      inputSchema: SEARCH_INPUT,
      outputSchema: SEARCH_OUTPUT,
      annotations: { title: "Search tools", ...READ },
      // Gateways of other programs leave out the tools that a caller may not call.
      _meta: { [FINDS_META]: "servers" },
    },
    describe: {
      name: DESCRIBE_TOOL,
      title: "Describe a tool",
      description: `Gives the definition of a tool: its description, its effect, and the schemas of its arguments and its result.${hasParts ? " Where they are too large for one answer, path gives each part." : ""} ${where}`,
      inputSchema: hasParts ? PARTS_INPUT : DESCRIBE_INPUT,
      annotations: { title: "Describe a tool", ...READ },
      // A tool that a caller may not call is not described to it.
      _meta: { [CALLS_META]: "name" },
    },
    call: {
      name: CALL_TOOL,
      title: "Call a tool",
      description: `Calls a tool that ${SEARCH_TOOLS} found. Its arguments are those that ${DESCRIBE_TOOL} shows. ${where}`,
      inputSchema: CALL_INPUT,
      annotations: { title: "Call a tool", ...hintsOf(effect), openWorldHint: true },
      // Rules of gateways and hosts about names apply to the tool that is called.
      _meta: { [CALLS_META]: "name" },
    },
  };
}

const READ: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

function hintsOf(effect: ToolEffect): ToolAnnotations {
  if (effect === "read") return { readOnlyHint: true };
  return { readOnlyHint: false, destructiveHint: effect === "destructive", idempotentHint: false };
}

function namedServers(servers: readonly SearchedServer[]): string {
  const named = servers
    .slice(0, MOST_NAMED)
    .map(({ server, tools }) => `${visible(server)} (${tools} ${tools === 1 ? "tool" : "tools"})`);
  const rest = servers.length - named.length;
  return named.length === 0
    ? "There are no tools at the moment."
    : `Servers: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

const NAME = { type: "string", description: `The name of the tool, as ${SEARCH_TOOLS} gives it.` };

const SEARCH_INPUT: Tool["inputSchema"] = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words about what the tool does, or its name." },
    limit: { type: "integer", minimum: 1, maximum: MOST, default: USUAL, description: "How many at most." },
    server: { type: "string", description: "Only tools of this server." },
    effect: { type: "string", enum: EFFECTS, description: "Only tools with this effect." },
    detail: {
      type: "string",
      enum: ["names", "signatures", "schemas"],
      default: "signatures",
      description: "Names alone, with parameters and what they do, or with the schemas of their arguments.",
    },
  },
  required: ["query"],
  additionalProperties: false,
};

const SEARCH_OUTPUT = {
  type: "object",
  properties: {
    servers: { type: "array", items: { type: "object" }, description: "The tools found, by their servers." },
    more: { type: "integer", description: "How many more match." },
  },
  required: ["servers", "more"],
};

const DESCRIBE_INPUT: Tool["inputSchema"] = {
  type: "object",
  properties: { name: NAME },
  required: ["name"],
  additionalProperties: false,
};

const PARTS_INPUT: Tool["inputSchema"] = {
  ...DESCRIBE_INPUT,
  properties: {
    name: NAME,
    path: { type: "string", description: "JSON pointer of a part, such as /inputSchema/$defs/Order." },
    from: { type: "integer", minimum: 0, description: 'Where a part goes on, as "next" says.' },
  },
};

const CALL_INPUT: Tool["inputSchema"] = {
  type: "object",
  properties: { name: NAME, arguments: { type: "object", description: "The arguments of that tool." } },
  required: ["name"],
  additionalProperties: false,
};

/** What is wrong with the arguments of the other tool is answered as by that tool. */
const CALL_MEMBERS: Tool["inputSchema"] = { ...CALL_INPUT, properties: { name: NAME, arguments: {} } };

let checks: Record<"search" | "describe" | "call", SchemaValidator> | undefined;

/** What is wrong with the arguments, in words; undefined if they fit. */
export function problemsOf(tool: keyof SearchingTools, args: unknown): string | undefined {
  checks ??= {
    search: compileSchema(SEARCH_INPUT),
    describe: compileSchema(DESCRIBE_INPUT),
    call: compileSchema(CALL_MEMBERS),
  };
  const given = isRecord(args) ? Object.keys(args).length : 0;
  if (given > MOST_MEMBERS) return `they have ${given} members`;
  const check = checks[tool](args);
  if (check.kind === "valid") return undefined;
  if (check.kind === "unusable") return check.reason;
  const problems = check.problems.map(({ message }) => message);
  return shorten(problems.join("; "), MAX_PROBLEMS);
}

/** A tool that call_tool is asked to call. */
interface InnerCall {
  name: string;
  arguments: unknown;
}

/** The call that the arguments of call_tool are about. Throws where they name none. */
export function innerCall(args: unknown = {}): InnerCall {
  const problems = problemsOf("call", args);
  if (problems === undefined && isRecord(args) && typeof args["name"] === "string") {
    return { name: args["name"], arguments: args["arguments"] };
  }
  const message = `Invalid arguments for ${CALL_TOOL}: ${problems ?? "they must be an object"}`;
  throw new NexusError("ARGUMENTS_INVALID", message, {
    hint: `For example {"name": "find_orders", "arguments": {}}, with a name that ${SEARCH_TOOLS} gives.`,
    rpc: { code: INVALID_PARAMS, message },
    mayHaveReached: false,
  });
}

/** Why there is nothing with a name, and which names may have been meant. */
export function noSuchTool(
  name: string,
  known: readonly string[],
  otherwise = `Find its name with ${SEARCH_TOOLS}.`,
): string {
  const near = nearNames(name, known, 3);
  const hint = near.length === 0 ? otherwise : `Did you mean ${near.join(", ")}?`;
  return visible(`There is no tool ${JSON.stringify(shorten(name, MAX_NAME))}. ${hint}`);
}

export function wrongArguments(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
