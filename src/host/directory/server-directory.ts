import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { serverId, withServerId } from "../../text/server-id.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { ToolAnnotations } from "../../protocol/mcp.ts";
import { serverTarget, type AccessTarget } from "./access-target.ts";
import { resolveName } from "./names.ts";
import { Policy, type Decision, type EntryRules, type PolicySettings } from "./policy.ts";
import { unknownServer } from "./unknown-name.ts";

/** A tool or prompt as its server lists it. */
export interface ListedItem {
  name: string;
  annotations?: ToolAnnotations | undefined;
}

interface Lookup<T extends ListedItem> {
  kind: "tool" | "prompt";
  agent?: string | undefined;
  /** The tools or prompts that a server lists. */
  listed: (server: ServerDefinition) => readonly T[];
}

/** The thing that a name stands for, its server, and whether it may be used. */
export interface Resolved<T extends ListedItem> {
  definition: ServerDefinition;
  item: T;
  target: AccessTarget;
  decision: Decision;
}

/** The configured servers by name, and the policy for them. It starts no server. */
export class ServerDirectory {
  /** Decides who may see and use what: combines the settings and the servers' entries. */
  readonly policy: Policy;
  readonly #byId = new Map<string, ServerDefinition>();
  /** The ids of servers whose entries have a prefix. */
  readonly #idByPrefix = new Map<string, string>();
  readonly #entries: { -readonly [K in keyof EntryRules]: EntryRules[K] };
  readonly #isPersonal: boolean;

  /** `isPersonal`: for the user's own commands, which reach all servers, also those that are shared with some agents. */
  constructor(settings: PolicySettings = {}, { isPersonal = false } = {}) {
    this.#isPersonal = isPersonal;
    this.#entries = {
      hasAgents: false,
      toolsOf: (server) => this.#byId.get(server)?.tools,
      agentsOf: (server) => (isPersonal ? undefined : this.#byId.get(server)?.agents),
    };
    this.policy = new Policy(settings, this.#entries);
  }

  /** Replaces all servers. Their order is the order of every list. */
  replace(definitions: readonly ServerDefinition[]): void {
    this.#byId.clear();
    this.#idByPrefix.clear();
    for (const definition of definitions) {
      this.#byId.set(definition.id, definition);
      if (definition.prefix !== undefined) this.#idByPrefix.set(definition.prefix, definition.id);
    }
    this.#entries.hasAgents = !this.#isPersonal && definitions.some(({ agents }) => agents !== undefined);
  }

  all(): ServerDefinition[] {
    return [...this.#byId.values()];
  }

  /** The servers that the agent may know of. */
  visibleTo(agent: string | undefined): ServerDefinition[] {
    return this.all().filter(
      ({ id, versionOf }) => versionOf === undefined && this.policy.allows(agent, serverTarget(id)),
    );
  }

  /** By its id, or by its name in the configuration file. */
  find(name: string): ServerDefinition | undefined {
    return this.#byId.get(name) ?? this.#byId.get(serverId(name));
  }

  get(name: string): ServerDefinition {
    const found = this.find(name);
    if (found) return found;
    throw this.unknown(name);
  }

  /** The error for an unknown server. `none` is the hint if there are no servers. */
  unknown(name: string, none?: string): NexusError {
    const owner = this.findOwners(name)[0]?.id;
    return unknownServer(name, [...this.#byId.keys()], { none, near: owner === undefined ? undefined : [owner] });
  }

  /** The server whose tool and prompt names have this prefix. An id is a prefix unless another entry uses it as one. */
  findIdByPrefix(prefix: string): string | undefined {
    return this.#idByPrefix.get(prefix) ?? (this.#byId.has(prefix) ? prefix : undefined);
  }

  /** The servers that a full name, in any of its forms, may belong to. */
  findOwners(fullName: string): ServerDefinition[] {
    const name = this.withId(fullName);
    return this.all().filter((definition) => beginsWithServer(name, definition));
  }

  /** The full name with the id of its server, also if the name of the configuration file was used. */
  withId(fullName: string): string {
    return withServerId(fullName, (id) => this.#byId.has(id));
  }

  /** Finds the tool or prompt with a full name; throws if there is none that the agent may see. */
  resolve<T extends ListedItem>(fullName: string, { kind, agent, listed }: Lookup<T>): Resolved<T> {
    const candidates = this.visibleTo(agent).flatMap((definition) => {
      const { id: server, prefix } = definition;
      return listed(definition).map((item) => ({ server, prefix, name: item.name, item, definition }));
    });
    const { server, name, item, definition } = resolveName(this.withId(fullName), candidates, kind);
    const target: AccessTarget = { kind, server, name, annotations: item.annotations };
    return { definition, item, target, decision: this.policy.decide(agent, target) };
  }
}

/** Whether a full name, in any of its forms, begins with this server. */
function beginsWithServer(name: string, { id, prefix = id }: { id: string; prefix?: string | undefined }): boolean {
  return [`${id}.`, `mcp:${id}.`, `mcp__${id}__`, `mcp__${prefix}__`].some((head) => name.startsWith(head));
}
