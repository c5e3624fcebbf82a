import { Turns } from "../../async/turns.ts";
import type { ToolHandler } from "../../server/features/features.ts";
import { McpServer } from "../../server/features/mcp-server.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { REVISIONS } from "./api-server.ts";
import { RunningVersion, type OpenedRunner, type RouteCall, type ServedVersion } from "./running-version.ts";

export interface VersionedServerOptions {
  /** Opens what makes the requests of a version. */
  open: (version: ServedVersion) => Promise<OpenedRunner>;
  /** Key for sealing state that clients carry between the rounds of a call. */
  stateKey: Uint8Array;
}

/**
 * A server whose API can change while it is served: new calls use the new version, and calls under way end with the version
 * that they began with. Its clients stay connected and are told that lists have changed.
 */
export class VersionedServer {
  readonly server: McpServer;
  readonly #options: VersionedServerOptions;
  /** By hash: the current version, and those that still have something to do. */
  readonly #versions = new Map<string, RunningVersion>();
  readonly #turns = new Turns();
  #current: RunningVersion;
  #isClosed = false;

  static async open(first: ServedVersion, options: VersionedServerOptions): Promise<VersionedServer> {
    return new VersionedServer(first, await options.open(first), options);
  }

  private constructor(first: ServedVersion, opened: OpenedRunner, options: VersionedServerOptions) {
    this.#options = options;
    const { api, title, version } = first.api.file;
    this.server = new McpServer({
      name: api,
      title,
      version,
      revisions: REVISIONS,
      stateKey: options.stateKey,
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
    });
    this.server.unlisted((tool) => this.#findEarlier(tool));
    this.#current = this.#add(first, opened);
    this.server.adopt(this.#current.server);
  }

  /** The hash of the version that new calls use. */
  get hash(): string {
    return this.#current.api.hash;
  }

  /** Serves this version from now on. If it cannot be opened, the current one stays. */
  show(next: ServedVersion): Promise<void> {
    return this.#turns.run(() => this.#show(next));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.ended();
    await Promise.all([...this.#versions.values()].map((version) => version.close()));
  }

  async #show(next: ServedVersion): Promise<void> {
    if (next.api.hash === this.hash || this.#isClosed) return;
    const before = this.#current;
    const running = this.#add(next, await this.#options.open(next));
    this.#current = running;
    this.server.adopt(running.server);
    void before.retire().then(() => this.#forget(before));
  }

  #add(version: ServedVersion, opened: OpenedRunner): RunningVersion {
    const running = new RunningVersion(version, opened, this.#route);
    this.#versions.set(version.api.hash, running);
    return running;
  }

  /** A version may have come back meanwhile, with another runner. */
  #forget(version: RunningVersion): void {
    if (this.#versions.get(version.api.hash) === version) this.#versions.delete(version.api.hash);
  }

  /** Called for each tool of a version when it is declared. */
  readonly #route: RouteCall = (version, tool, run) => (args, context) =>
    context.params["requestState"] === undefined ? run(args, context) : this.#continue(version, tool)(args, context);

  /** The answer to a question belongs to the version that asked it; without a note, to the current one. */
  #continue(current: RunningVersion | undefined, tool: string): ToolHandler {
    return (args, context) => {
      const { noted } = context;
      const version = noted === undefined ? current : this.#versions.get(noted);
      const run = version?.isClosed ? undefined : version?.handlers.get(tool);
      return run ? run(args, context) : refused(this.#current);
    };
  }

  /** A tool that the current version does not have, for answers to questions of an earlier one. */
  #findEarlier(tool: string): ToolHandler | undefined {
    for (const version of this.#versions.values())
      if (!version.isClosed && version.handlers.has(tool)) return this.#continue(undefined, tool);
    return undefined;
  }
}

/** For a client that has to read the list of tools again. Nothing was sent. */
export function refused({ api }: RunningVersion): CallToolResult {
  const text =
    `The tools of ${api.file.api} have changed since your client read them. ` +
    "Refresh the list of tools (in ChatGPT: refresh the connector), then call again. Nothing was sent.";
  return { content: [{ type: "text", text }], isError: true };
}
