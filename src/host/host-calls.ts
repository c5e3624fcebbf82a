import type { CancelSignal } from "../async/cancellation.ts";
import type { CallToolOptions } from "../client/client.ts";
import type { CallOptions } from "../client/conversation/call-scope.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "../protocol/mcp.ts";
import { CALL_TOOL, SEARCHING_TOOLS, SHOWN_META } from "../protocol/meta.ts";
import { isSearched, isSearching, type ShownTools } from "../protocol/shown-tools.ts";
import { calledTool, type ToolUse } from "./directory/called-tool.ts";
import { type AccessTarget, calledWith, serverTarget, toolTarget } from "./directory/access-target.ts";
import { unlessAborted } from "../async/unless-aborted.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import type { Pins } from "./definitions/pins.ts";
import { modelName } from "./directory/names.ts";
import type { ServerDirectory } from "./directory/server-directory.ts";
import type { Lease, LeaseRequest } from "./servers/lease.ts";
import type { ServerState } from "./servers/server-state.ts";
import type { ServerSupervisor, ServerSupervisors } from "./servers/server-supervisors.ts";
import type { ForAgent, HostTool, VisibleLists } from "./visible-lists.ts";

/** The agent for which a name is looked up, and a signal. */
export interface AgentCall extends ForAgent {
  signal?: CancelSignal | undefined;
}

/** Calls that agents make through a host: finds the server, checks the policy, leases a connection. */
export class HostCalls {
  readonly #directory: ServerDirectory;
  readonly #supervisors: ServerSupervisors;
  readonly #lists: VisibleLists;
  readonly #pins: Pins;

  constructor(
    directory: ServerDirectory,
    supervisors: ServerSupervisors,
    { lists, pins }: { lists: VisibleLists; pins: Pins },
  ) {
    this.#directory = directory;
    this.#supervisors = supervisors;
    this.#lists = lists;
    this.#pins = pins;
  }

  getSupervisor(name: string): ServerSupervisor {
    const found = this.#supervisors.find(this.#directory.get(name).id);
    if (found) return found;
    throw this.#directory.unknown(name);
  }

  async getTool(name: string, options: AgentCall): Promise<HostTool> {
    const { agent } = options;
    await this.#wakeOwners(name, options);
    const listed = ({ id }: ServerDefinition) => this.#lists.offered(id).tools;
    // Permission is checked when the tool is called.
    const { definition, item: tool } = this.#directory.resolve(name, { kind: "tool", agent, listed });
    const { id: server, prefix = server, pin } = definition;
    // The new description must not reach a model.
    if (pin !== undefined) await this.#requireAccepted(this.getSupervisor(server), "tools", tool.name, options);
    return { name: modelName(prefix, tool.name), server, tool };
  }

  async callTool<T>(
    target: string | HostTool,
    args: object | undefined,
    options: CallToolOptions & ForAgent,
  ): Promise<CallToolResult<T>> {
    const found = typeof target === "string" ? await this.getTool(target, options) : target;
    const supervisor = this.getSupervisor(found.server);
    if (isApi(supervisor.definition) && SEARCHING_TOOLS.includes(found.tool.name))
      return this.#callSearching(supervisor, found.tool.name, args, options);
    return this.#callOne(supervisor, found.tool.name, args, options);
  }

  /** The call of a tool of an API; one that names another tool of the API is the call of that one. */
  calledTool({ server, tool }: HostTool, args: unknown, { agent }: ForAgent): ToolUse {
    const supervisor = this.getSupervisor(server);
    if (!isApi(supervisor.definition)) return { tool, arguments: args };
    const callable = this.#lists.callable(agent, supervisor);
    return calledTool(tool, args, {
      // One that is denied or held is refused as such when it is called.
      find: (name) => callable.get(name) ?? supervisor.lists.findTool(name),
      names: () => [...callable.keys()],
    });
  }

  async #callSearching<T>(
    supervisor: ServerSupervisor,
    name: string,
    args: object | undefined,
    options: CallToolOptions & ForAgent,
  ): Promise<CallToolResult<T>> {
    if (!isKnown(supervisor.state)) await supervisor.wake(options.signal);
    await unlessAborted(supervisor.lists.settled ?? Promise.resolve(), options.signal);
    const { definition, lists } = supervisor;
    const listed = lists.findTool(name);
    // An API may have a tool of its own with such a name.
    if (!listed || !isSearching(listed)) return this.#callOne<T>(supervisor, name, args, options);
    const { tool, arguments: given } = this.calledTool({ name, server: definition.id, tool: listed }, args, options);
    if (tool !== listed) return this.#callOne<T>(supervisor, tool.name, given as object, options);
    const isOpen = definition.pin === undefined && this.#directory.policy.isOpen("tool", definition.id);
    const meta = isOpen ? options.meta : { ...options.meta, [SHOWN_META]: this.#shown(supervisor, options) };
    return this.#callOne<T>(supervisor, name, args, meta ? { ...options, meta } : options);
  }

  /** What a tool that finds or describes others may show. */
  #shown(supervisor: ServerSupervisor, { agent }: ForAgent): ShownTools {
    const callable = [...this.#lists.callable(agent, supervisor).values()];
    return Object.fromEntries(
      callable.map((tool) => [tool.name, { name: tool.name, call: isSearched(tool) ? CALL_TOOL : tool.name }]),
    );
  }

  async #callOne<T>(
    supervisor: ServerSupervisor,
    name: string,
    args: object | undefined,
    options: CallToolOptions & ForAgent,
  ): Promise<CallToolResult<T>> {
    // Rules use the ids of servers; callers may use the name in the configuration file.
    const isOpen = this.#directory.policy.isOpen("tool", supervisor.definition.id);
    if (!isOpen) await this.#permitTool(supervisor, name, args, options);
    if (supervisor.definition.pin !== undefined) await this.#requireAccepted(supervisor, "tools", name, options);
    const lease = await supervisor.lease(requestFor(options));
    try {
      return await lease.client.callTool<T>(name, args, options);
    } catch (error) {
      lease.report(error);
      throw error;
    } finally {
      lease.release();
    }
  }

  async readResource(server: string, uri: string, options: CallOptions & ForAgent): Promise<ReadResourceResult> {
    const { agent, signal } = options;
    const supervisor = this.getSupervisor(server);
    const target: AccessTarget = { kind: "resource", server: supervisor.definition.id, name: uri };
    await this.#directory.policy.permit({ agent, target, signal });
    if (supervisor.definition.pin === true) await this.#requireResource(supervisor, uri, options);
    return runOn(supervisor, options, (lease) => lease.client.readResource(uri, options));
  }

  async getPrompt(
    name: string,
    args: Record<string, string> | undefined,
    options: CallOptions & ForAgent,
  ): Promise<GetPromptResult> {
    const { agent, signal } = options;
    await this.#wakeOwners(name, options);
    const listed = ({ id }: ServerDefinition) => this.#lists.offered(id).prompts;
    const { item, target, decision } = this.#directory.resolve(name, { kind: "prompt", agent, listed });
    await this.#directory.policy.enforce(decision, { agent, target, arguments: args, signal });
    const supervisor = this.getSupervisor(target.server);
    if (supervisor.definition.pin === true) await this.#requireAccepted(supervisor, "prompts", item.name, options);
    return runOn(supervisor, options, (lease) => lease.client.getPrompt(item.name, args, options));
  }

  /** Throws if a pinned definition is not as it was accepted. A change that was just reported is read first. */
  async #requireAccepted(supervisor: ServerSupervisor, kind: ListKind, name: string, call: AgentCall): Promise<void> {
    const { lists, definition } = supervisor;
    if (!isKnown(supervisor.state)) await supervisor.wake(call.signal);
    await unlessAborted(lists.settled ?? Promise.resolve(), call.signal);
    this.#pins.requireAccepted({ server: definition.id, kind, name, hash: lists.hashOf(kind, name) });
  }

  /** A resource that is not listed may belong to a template. */
  async #requireResource(supervisor: ServerSupervisor, uri: string, call: AgentCall): Promise<void> {
    if (!isKnown(supervisor.state)) await supervisor.wake(call.signal);
    const isListed = supervisor.lists.resources.some((resource) => resource.uri === uri);
    if (isListed) await this.#requireAccepted(supervisor, "resources", uri, call);
  }

  /** Decides by the server's own description of its tool, not by the caller's. */
  async #permitTool(
    supervisor: ServerSupervisor,
    name: string,
    args: unknown,
    { agent, signal }: AgentCall,
  ): Promise<void> {
    const { policy } = this.#directory;
    const { definition, lists, state } = supervisor;
    const { id } = definition;
    await policy.permit({ agent, target: serverTarget(id), signal });
    if (!lists.findTool(name) && !isKnown(state)) await supervisor.wake(signal);
    const tool = lists.findTool(name);
    const searched = isApi(definition) ? lists.searched : undefined;
    const listed: AccessTarget = tool ? toolTarget(id, tool, searched) : { kind: "tool", server: id, name };
    await policy.permit({ agent, target: calledWith(listed, args), arguments: args, signal });
  }

  /**
   * Connects the server that a name begins with before the name is looked up, if the agent may see it. A disabled
   * server is refused with its own error, not as an unknown name.
   */
  async #wakeOwners(name: string, { agent, signal }: AgentCall): Promise<void> {
    for (const { id } of this.#directory.findOwners(name)) {
      await this.#directory.policy.permit({ agent, target: serverTarget(id), signal });
      const supervisor = this.#supervisors.find(id);
      if (supervisor && !isKnown(supervisor.state)) await supervisor.wake(signal);
    }
  }
}

function isApi({ entry }: ServerDefinition): boolean {
  return entry?.reach.kind === "api";
}

async function runOn<T>(
  supervisor: ServerSupervisor,
  options: CallOptions,
  run: (lease: Lease) => Promise<T>,
): Promise<T> {
  using lease = await supervisor.lease(requestFor(options));
  try {
    return await run(lease);
  } catch (error) {
    lease.report(error);
    throw error;
  }
}

/** A paused server is known as well: its lists are kept. */
function isKnown({ kind }: ServerState): boolean {
  return kind === "ready" || kind === "degraded" || kind === "paused";
}

const NO_REQUEST: LeaseRequest = {};

/** A caller with its own input provider gets a connection whose questions go only to it. */
function requestFor({ signal, input, onProgress }: CallOptions): LeaseRequest {
  if (!signal && !input && !onProgress) return NO_REQUEST;
  const request: LeaseRequest = {};
  if (signal) request.signal = signal;
  if (input) request.input = input;
  if (onProgress) request.onWait = (message) => onProgress({ progress: 0, message });
  return request;
}
