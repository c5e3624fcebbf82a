import type { Prompt, Resource, ResourceTemplate, Tool } from "../protocol/mcp.ts";
import { isSearching } from "../protocol/shown-tools.ts";
import { type AccessTarget, toolTarget } from "./directory/access-target.ts";
import { modelName } from "./directory/names.ts";
import type { ServerDirectory } from "./directory/server-directory.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import type { Pins } from "./definitions/pins.ts";
import type { ServerLists } from "./servers/server-lists.ts";
import type { ServerSupervisor, ServerSupervisors } from "./servers/server-supervisors.ts";

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
  /** Of an API: its tools that are found by searching, in short. */
  readonly searched: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
  /** What the server says about itself for models, since it was first connected. */
  readonly instructions?: string | undefined;
}

/** What another server says of its tools is not looked into: it only narrows. */
function listedTarget(server: string, { name, annotations }: Tool): AccessTarget {
  return { kind: "tool", server, name, annotations };
}

const NOTHING: OfferedThings = { tools: [], searched: [], resources: [], templates: [], prompts: [] };

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
    return this.#running(agent).flatMap(({ definition: { id: server, prefix = server, entry }, lists }) => {
      const searched = entry?.reach.kind === "api" ? lists.searched : undefined;
      return lists.tools
        .filter((tool) => {
          const target = searched ? toolTarget(server, tool, searched) : listedTarget(server, tool);
          return policy.allows(agent, target) && !this.#isHeld("tools", tool.name, lists);
        })
        .map((tool) => ({ name: modelName(prefix, tool.name), server, tool }));
    });
  }

  /** The tools of an API that an agent may use, by their names: listed ones, and those that are found by searching. */
  callable(agent: string | undefined, { definition: { id: server }, lists }: ServerSupervisor): Map<string, Tool> {
    const { policy } = this.#directory;
    const callable = [...lists.tools, ...lists.searched].filter(
      (tool) =>
        !isSearching(tool) &&
        policy.allows(agent, toolTarget(server, tool, [])) &&
        !this.#isHeld("tools", tool.name, lists),
    );
    return new Map(callable.map((tool) => [tool.name, tool]));
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
