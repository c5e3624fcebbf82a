import { isConnected } from "../../host/servers/server-state.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { stateWords } from "../command/state-words.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { chatStateWords } from "./chat-state-words.ts";
import { CHAT_AGENT } from "./chat-state.ts";
import { failedServers, startingServers, stillStarting, type ServerProblem } from "./server-problems.ts";
import { missingTools, type ToolPatterns } from "./tool-patterns.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";

export interface ServerWarningsOptions {
  screen: ChatScreen;
  /** Whether a person can type commands of the chat. */
  hasPrompt: boolean;
  patterns: ToolPatterns;
}

/**
 * One line for each server that cannot be used, when it fails and when it is back, and for each option that names a tool
 * which a connected server does not have. The chat goes on. Made when the chat no longer waits for servers that start.
 */
export class ServerWarnings implements Disposable {
  readonly #host: Host;
  readonly #options: ServerWarningsOptions;
  readonly #stop: () => void;
  readonly #failed = new Set<string>();
  readonly #used = new Set<string>();
  /** Those that were not ready when the chat began. */
  readonly #late: readonly string[];
  readonly #awaited: Set<string>;

  constructor(host: Host, options: ServerWarningsOptions) {
    this.#host = host;
    this.#options = options;
    this.#late = startingServers(host);
    this.#awaited = new Set(this.#late);
    for (const id of this.#late) {
      options.screen.labelled("yellow", "warning:", stillStarting(id).error.message);
    }
    for (const { id } of host.directory.visibleTo(CHAT_AGENT)) this.#look(id);
    this.#stop = host.on(({ kind, server }) => {
      if (kind === "state" && host.directory.visibleTo(CHAT_AGENT).some(({ id }) => id === server)) this.#look(server);
    });
  }

  /** The same for programs, as it is now. */
  get problems(): ServerProblem[] {
    const missing = [...this.#used].flatMap((id) => missingTools(this.#host, id, this.#options.patterns));
    const failed = failedServers(this.#host);
    const late = this.#late.filter((id) => !failed.some(({ server }) => server === id));
    return [...failed, ...late.map(stillStarting), ...missing];
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #look(id: string): void {
    const server = this.#host.find(id);
    if (!server) return void this.#failed.delete(id);
    const { kind } = server.state;
    if (kind === "failed" || kind === "waiting-for-trust") {
      if (!this.#failed.has(id)) this.#warn(server);
      this.#failed.add(id);
      return;
    }
    if (!isConnected(server.state)) return;
    if (!this.#used.has(id)) {
      for (const { error } of missingTools(this.#host, id, this.#options.patterns)) this.#tell(error);
    }
    this.#used.add(id);
    const isBack = this.#failed.delete(id);
    const isLate = this.#awaited.delete(id);
    if (isBack || isLate) this.#options.screen.labelled("green", `${id}:`, stateWords(server));
  }

  #warn(server: ServerStatus): void {
    const { id, state } = server;
    const isBack = state.kind === "failed" && state.retryAt !== undefined && this.#used.has(id);
    const words = isBack
      ? `server "${id}" went away and is started again: ${state.error.message}`
      : `server "${id}" is not used: ${this.#words(server)}`;
    this.#options.screen.labelled("yellow", "warning:", words);
  }

  #tell({ message, hint }: NexusError): void {
    this.#options.screen.labelled("yellow", "warning:", hint === undefined ? message : `${message}. ${hint}`);
  }

  #words(server: ServerStatus): string {
    if (this.#options.hasPrompt) return chatStateWords(server);
    const next = server.state.kind === "failed" ? `. Next: nexus mcp doctor ${server.id}` : "";
    return `${stateWords(server)}${next}`;
  }
}
