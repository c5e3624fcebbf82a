import type { Client } from "../client/client.ts";
import type { Logger } from "../client/logger.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { asNexusError, messageOf, NexusError } from "../errors/nexus-error.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../protocol/mcp.ts";

/** What one server offers, as last read. Kept current by the server's own notices, in either era. */
export class ServerLists {
  definition: ServerDefinition;
  #tools: readonly Tool[] = [];
  #byName = new Map<string, Tool>();
  resources: readonly Resource[] = [];
  templates: readonly ResourceTemplate[] = [];
  prompts: readonly Prompt[] = [];
  readonly #logger: Logger;
  readonly #onLists: () => void;
  /** Whose notices are heard already. */
  #followed: Client | undefined;

  constructor(definition: ServerDefinition, { logger, onLists }: { logger: Logger; onLists: () => void }) {
    this.definition = definition;
    this.#logger = logger;
    this.#onLists = onLists;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  set tools(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
  }

  findTool(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  /** Reads everything the server declares. What cannot be read keeps what was known, and is what is returned. */
  async load(client: Client): Promise<NexusError | undefined> {
    const failures: NexusError[] = [];
    const read = async (run: () => Promise<void>) => {
      await run().catch((error: unknown) => failures.push(asNexusError(error)));
    };
    await Promise.all([
      read(async () => void (this.tools = await client.listTools())),
      read(async () => void (this.resources = await client.listResources())),
      read(async () => void (this.templates = await client.listResourceTemplates())),
      read(async () => void (this.prompts = await client.listPrompts())),
    ]);
    void this.#follow(client);
    this.#onLists();
    const { id, failIfNoTools } = this.definition;
    if (failIfNoTools && failures.length === 0 && this.tools.length === 0) {
      return new NexusError("CAPABILITY_MISSING", `Server "${id}" offers no tools`, {
        server: id,
        hint: `"fail_if_no_tools" makes that a failure.`,
      });
    }
    return failures[0];
  }

  async #follow(client: Client): Promise<void> {
    if (this.#followed === client) return;
    this.#followed = client;
    try {
      await client.subscribe({ lists: ["tools", "resources", "prompts"] }, (change) => {
        if (change.kind === "list-changed") void this.#reread(client, change.list);
        else if (change.kind === "restored") void this.load(client);
      });
    } catch (error) {
      // A server without list changes is read once; that is all it promises.
      this.#logger.debug(`"${this.definition.id}" tells of no changes: ${messageOf(error)}`);
    }
  }

  async #reread(client: Client, list: "tools" | "resources" | "prompts"): Promise<void> {
    try {
      if (list === "tools") this.tools = await client.listTools();
      else if (list === "prompts") this.prompts = await client.listPrompts();
      else
        [this.resources, this.templates] = await Promise.all([client.listResources(), client.listResourceTemplates()]);
      this.#onLists();
    } catch (error) {
      this.#logger.warn(`the changed ${list} of "${this.definition.id}" could not be read: ${messageOf(error)}`);
    }
  }
}
