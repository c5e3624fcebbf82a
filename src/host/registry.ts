import { withoutOwnMeta } from "../protocol/meta.ts";
import { checkOptions, wrongOption, type OptionNames } from "../errors/check-options.ts";
import { mapConcurrently } from "../async/map-concurrently.ts";
import { checkArguments } from "../client/schema-check.ts";
import type { InputProvider } from "../client/conversation/input.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import type { CallToolResult, GetPromptResult, ResourceContents, Tool, ToolAnnotations } from "../protocol/mcp.ts";
import type { Host } from "./host.ts";
import type { ForAgent, HostTool } from "./visible-lists.ts";

/** A tool for an agent, independent of its server. */
export interface AgentTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: ToolAnnotations;
  execute(args: unknown, options?: ExecuteOptions): Promise<CallToolResult>;
}

export interface ExecuteOptions {
  signal?: AbortSignal | undefined;
  /**
   * Answers the server's questions during this call. The same object stands for the same person: a legacy server that
   * keeps state gets a connection for each.
   */
  input?: InputProvider | undefined;
}

const EXECUTE_OPTIONS: OptionNames<ExecuteOptions> = {
  signal: true,
  input: true,
};

export interface AgentToolsOptions extends ForAgent {
  /** Every tool, whatever it does. Without it, and without rules of the host, only tools that are annotated as read-only. */
  policy?: "allow-all" | undefined;
}

const AGENT_TOOLS_OPTIONS: OptionNames<AgentToolsOptions> = { agent: true, policy: true };

/**
 * The tools that the agent may call, and two tools that list and read resources. Where neither the host's `policy` nor the
 * server's entry has rules for tools, those that may have effects are left out, and the host says so once.
 */
export function agentTools(host: Host, options: AgentToolsOptions = {}): AgentTool[] {
  checkOptions("agentTools", options, AGENT_TOOLS_OPTIONS);
  const { agent, policy } = options;
  if (policy !== undefined && policy !== "allow-all")
    throw wrongOption(`${JSON.stringify(policy)} is not a policy of agentTools`, POLICY_HINT);
  const scope = agent === undefined ? {} : { agent };
  const found = host.tools(scope);
  const listed = policy
    ? found
    : found.filter(({ server, tool }) => tool.annotations?.readOnlyHint === true || host.policy.hasToolRules(server));
  if (listed.length < found.length) host.advise(withheldText(found, listed));
  return [...listed.map((each) => agentTool(host, each, agent)), ...resourceTools(host, scope)];
}

const POLICY_HINT = `Use "allow-all", or leave it out and give rules to Host.open({ policy: { allow: […], consent: … } }).`;

function withheldText(found: readonly HostTool[], listed: readonly HostTool[]): string {
  const withheld = found.filter((tool) => !listed.includes(tool)).map(({ name }) => name);
  const names = withheld.slice(0, MAX_NAMED).join(", ");
  const more = withheld.length > MAX_NAMED ? ` and ${withheld.length - MAX_NAMED} more` : "";
  return (
    `agentTools lists ${listed.length} of ${found.length} tools, those that are annotated as read-only, because there is no policy. ` +
    `Left out: ${names}${more}. Give Host.open a policy (allow, readOnly or consent), or say policy: "allow-all".`
  );
}

/** In one message. */
const MAX_NAMED = 10;

export const READ_RESOURCE = "ReadMcpResource";

/** Two tools that list and read resources, if there are any for this agent. */
export function resourceTools(host: Host, scope: ForAgent): AgentTool[] {
  const hasResources = host.resources(scope).length + host.templates(scope).length > 0;
  return hasResources ? [listResources(host, scope), readResource(host, scope)] : [];
}

function agentTool(host: Host, found: HostTool, agent: string | undefined): AgentTool {
  const { name, server, tool } = found;
  return {
    name,
    description: tool.description ?? tool.title ?? `${tool.name} of ${server}`,
    inputSchema: tool.inputSchema,
    annotations: tool.annotations ?? {},
    async execute(args, given = {}) {
      checkOptions(`execute of ${name}`, given, EXECUTE_OPTIONS, { abortSignal: "signal" });
      const { signal, input } = given;
      await requireFitting({ name, server, inputSchema: tool.inputSchema }, args);
      const options = { signal, input, ...(agent === undefined ? {} : { agent }) };
      return withoutOwnMeta(await host.callTool(found, isRecord(args) ? args : {}, options));
    },
  };
}

/** A tool whose arguments are checked; without a server, one of our own. */
interface CheckedTool extends Pick<Tool, "name" | "inputSchema"> {
  server?: string | undefined;
}

/**
 * Checks the arguments from a model before they are sent. If the schema is unusable, the server decides; but one that
 * takes too long would be a way around the check.
 */
export async function requireFitting({ name, server, inputSchema }: CheckedTool, args: unknown): Promise<void> {
  const check = await checkArguments({ name, inputSchema }, args);
  if (check.kind === "unusable" && check.isSlow) {
    throw new NexusError("ARGUMENTS_INVALID", `The arguments for ${name} could not be checked: ${check.reason}`, {
      ...(server === undefined ? {} : { server }),
      mayHaveReached: false,
    });
  }
  if (check.kind !== "invalid") return;
  const problems = check.problems.map(({ message }) => message);
  throw new NexusError("ARGUMENTS_INVALID", `Invalid arguments for ${name}: ${problems.join("; ")}`, {
    ...(server === undefined ? {} : { server }),
    mayHaveReached: false,
  });
}

function listResources(host: Host, scope: ForAgent): AgentTool {
  return {
    name: "ListMcpResources",
    description: "Lists the resources of all connected servers, for example documents, files and records.",
    inputSchema: {
      type: "object",
      properties: { server: { type: "string", description: "List only resources of this server" } },
    },
    annotations: { readOnlyHint: true },
    async execute(args) {
      const only = isRecord(args) ? args["server"] : undefined;
      const wanted = <T extends { server: string }>(items: T[]) =>
        items.filter(({ server }) => only === undefined || server === only);
      const resources = wanted(host.resources(scope)).map(({ server, resource }) => ({ server, ...resource }));
      const templates = wanted(host.templates(scope)).map(({ server, template }) => ({ server, ...template }));
      return { content: [{ type: "text", text: JSON.stringify({ resources, templates }) }] };
    },
  };
}

function readResource(host: Host, scope: ForAgent): AgentTool {
  const properties = { server: { type: "string" }, uri: { type: "string" } };
  return {
    name: READ_RESOURCE,
    description: "Reads a resource of a server by its URI.",
    inputSchema: { type: "object", properties, required: ["server", "uri"] },
    annotations: { readOnlyHint: true },
    async execute(args, { signal, input } = {}) {
      const { server, uri } = isRecord(args) ? args : {};
      if (typeof server !== "string" || typeof uri !== "string") {
        throw new NexusError("ARGUMENTS_INVALID", "ReadMcpResource needs a server and a uri", {
          mayHaveReached: false,
        });
      }
      const { contents } = await host.readResource(server, uri, { signal, input, ...scope });
      return { content: contents.map((resource) => ({ type: "resource", resource })) };
    },
  };
}

/** A prompt as a command of a chat: `/server:prompt`. */
export interface PromptCommand {
  /** `server:prompt`. */
  name: string;
  server: string;
  description: string;
  arguments: readonly { name: string; description?: string; required?: boolean }[];
  /** Returns the messages. Values are passed by name, or in the order of the arguments. */
  expand(values?: Record<string, string> | readonly string[], options?: ExecuteOptions): Promise<GetPromptResult>;
}

/** The prompts that this agent may use, as commands for people. */
export function promptCommands(host: Host, scope: ForAgent = {}): PromptCommand[] {
  checkOptions("promptCommands", scope, { agent: true });
  return host.prompts(scope).map(({ server, prompt }) => {
    const parameters = prompt.arguments ?? [];
    return {
      name: `${server}:${prompt.name}`,
      server,
      description: prompt.description ?? prompt.title ?? prompt.name,
      arguments: parameters,
      async expand(values = {}, { signal, input } = {}) {
        const given = Array.isArray(values)
          ? Object.fromEntries(
              values.map((value: string, index) => [parameters[index]?.name ?? `argument ${index + 1}`, value]),
            )
          : (values as Record<string, string>);
        const missing = parameters
          .filter(({ name, required }) => required && given[name] === undefined)
          .map(({ name }) => name);
        if (missing.length > 0) {
          const message = `The prompt ${server}:${prompt.name} needs ${missing.join(", ")}`;
          throw new NexusError("ARGUMENTS_INVALID", message, { server, mayHaveReached: false });
        }
        return host.getPrompt(`${server}.${prompt.name}`, given, { signal, input, ...scope });
      },
    };
  });
}

/** A resource as context for a model. */
export interface ContextBlock {
  server: string;
  uri: string;
  text: string;
}

export interface ContextOptions extends ForAgent {
  /** Maximum number of characters of all blocks together. */
  budget: number;
  /** Minimum priority (`annotations.priority`) of resources; the most important come first. */
  minPriority?: number | undefined;
  signal?: AbortSignal | undefined;
  /** How long to wait for one resource; default: the timeout of its server. */
  timeoutMs?: number | undefined;
}

const CONTEXT_OPTIONS: OptionNames<ContextOptions> = {
  agent: true,
  budget: true,
  minPriority: true,
  signal: true,
  timeoutMs: true,
};

const READS_AT_ONCE = 4;
/** Servers say themselves what is important. */
const MAX_CONTEXT_RESOURCES = 100;

/** Important resources as context, up to the budget and 100 of them. Resources that cannot be read are skipped. */
export async function contextBlocks(host: Host, options: ContextOptions): Promise<ContextBlock[]> {
  checkOptions("contextBlocks", options, CONTEXT_OPTIONS);
  const { budget, minPriority = 0.8, agent, signal, timeoutMs } = options;
  const scope = { agent };
  const priorityOf = (annotations: Record<string, unknown> | undefined) => {
    const priority = annotations?.["priority"];
    // A server that says more than 1 is not more important than others.
    return typeof priority === "number" ? Math.min(priority, 1) : 0;
  };
  const wanted = host
    .resources(scope)
    .map(({ server, resource }) => ({ server, uri: resource.uri, priority: priorityOf(resource.annotations) }))
    .filter(({ priority }) => priority >= minPriority)
    .sort((a, b) => b.priority - a.priority)
    .slice(0, MAX_CONTEXT_RESOURCES);
  const blocks: ContextBlock[] = [];
  let left = budget;
  const read = ({ server, uri }: { server: string; uri: string }) =>
    host.readResource(server, uri, { ...scope, signal, timeoutMs }).then(
      ({ contents }) => ({ server, uri, contents }),
      () => ({ server, uri, contents: [] as ResourceContents[] }),
    );
  for (const { server, uri, contents } of await mapConcurrently(wanted, read, { limit: READS_AT_ONCE })) {
    for (const { text } of contents) {
      if (text === undefined || text.length > left) continue;
      left -= text.length;
      blocks.push({ server, uri, text });
    }
  }
  return blocks;
}
