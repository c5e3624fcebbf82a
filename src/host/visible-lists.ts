import type { Prompt, Resource, ResourceTemplate, Tool } from "../protocol/mcp.ts";
import { modelName } from "./directory/names.ts";
import type { ServerDirectory } from "./directory/server-directory.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import type { Pins } from "./definitions/pins.ts";
import type { ServerLists } from "./servers/server-lists.ts";
import type { ServerSupervisor } from "./servers/server-supervisor.ts";
import type { ServerSupervisors } from "./servers/server-supervisors.ts";

/** A tool of a server with its name for models. */
export interface HostTool {
  /** `mcp__server__tool`. */
  name: string;
  server: string;
  tool: Tool;
}

/** The agent for which something is listed or done. Servers that are limited to some agents are hidden from others. */
export interface ForAgent {
  agent?: string | undefined;
}

/** The lists of one server. */
export interface OfferedThings {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

const NOTHING: OfferedThings = { tools: [], resources: [], templates: [], prompts: [] };

/** The lists of a host's servers that an agent may see, in the order of the configuration. */
export class VisibleLists {
  readonly #directory: ServerDirectory;
  readonly #supervisors: ServerSupervisors;
  readonly #pins: Pins;

  constructor(directory: ServerDirectory, supervisors: ServerSupervisors, pins: Pins) {
    this.#directory = directory;
    this.#supervisors = supervisors;
    this.#pins = pins;
  }

  /** Everything that a server lists, unless it is disabled; for callers that check the policy themselves. */
  offered(server: string): OfferedThings {
    const supervisor = this.#supervisors.find(server);
    return supervisor?.enabled ? supervisor.lists : NOTHING;
  }

  tools(agent: string | undefined): HostTool[] {
    const { policy } = this.#directory;
    return this.#running(agent).flatMap(({ definition: { id: server, prefix = server }, lists }) =>
      lists.tools
        .filter(
          ({ name, annotations }) =>
            policy.allows(agent, { kind: "tool", server, name, annotations }) && !this.#isHeld("tools", name, lists),
        )
        .map((tool) => ({ name: modelName(prefix, tool.name), server, tool })),
    );
  }

  resources(agent: string | undefined): { server: string; resource: Resource }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.resources
        .filter(({ uri }) => this.#showsResource(agent, server, uri) && !this.#isHeld("resources", uri, lists))
        .map((resource) => ({ server, resource })),
    );
  }

  templates(agent: string | undefined): { server: string; template: ResourceTemplate }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.templates
        .filter(
          ({ uriTemplate }) =>
            this.#showsResource(agent, server, uriTemplate) && !this.#isHeld("resourceTemplates", uriTemplate, lists),
        )
        .map((template) => ({ server, template })),
    );
  }

  prompts(agent: string | undefined): { server: string; name: string; prompt: Prompt }[] {
    const { policy } = this.#directory;
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.prompts
        .filter(
          ({ name }) => policy.allows(agent, { kind: "prompt", server, name }) && !this.#isHeld("prompts", name, lists),
        )
        .map((prompt) => ({ server, name: prompt.name, prompt })),
    );
  }

  #isHeld(kind: ListKind, name: string, lists: ServerLists): boolean {
    const { id: server } = lists.definition;
    return this.#pins.findHold({ server, kind, name, hash: lists.hashOf(kind, name) }) !== undefined;
  }

  #showsResource(agent: string | undefined, server: string, name: string): boolean {
    return this.#directory.policy.allows(agent, { kind: "resource", server, name });
  }

  /** The servers that are switched on and that this agent may see. */
  #running(agent: string | undefined): ServerSupervisor[] {
    return this.#directory.visibleTo(agent).flatMap(({ id }) => {
      const supervisor = this.#supervisors.find(id);
      return supervisor?.enabled ? [supervisor] : [];
    });
  }
}
