import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Message } from "../../src/protocol/json-rpc.ts";
import { eventsOf, send } from "../gateway/legacy/legacy-wire.ts";

/** A way for bare messages of the older revisions. */
export interface Channel {
  receive: (message: Message) => void;
  send(message: Message): Promise<void>;
  /** After the handshake, with the version agreed upon. */
  ready(version: string): Promise<void>;
  close(): Promise<void>;
}

/** Streamable HTTP with a session, and its own stream. */
export class StreamableChannel implements Channel {
  receive: (message: Message) => void = () => {};
  readonly #url: string;
  readonly #headers: Record<string, string> = {};
  readonly #ended = new AbortController();

  constructor(url: string) {
    this.#url = url;
  }

  async send(message: Message): Promise<void> {
    const response = await send(this.#url, message, this.#headers);
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.#headers["mcp-session-id"] = session;
    if (response.status === 202) return void (await response.text());
    if (response.headers.get("content-type")?.includes("text/event-stream")) void this.#follow(response);
    else for (const one of [await response.json()].flat() as Message[]) this.receive(one);
  }

  async ready(version: string): Promise<void> {
    if (version >= "2025-06-18") this.#headers["mcp-protocol-version"] = version;
    const headers = { accept: "text/event-stream", ...this.#headers };
    void this.#follow(await fetch(this.#url, { headers, signal: this.#ended.signal }));
  }

  async close(): Promise<void> {
    await fetch(this.#url, { method: "DELETE", headers: this.#headers });
    this.#ended.abort();
  }

  async #follow(response: Response): Promise<void> {
    try {
      for await (const { message } of eventsOf(response)) if (message) this.receive(message as Message);
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error;
    }
  }
}

/** HTTP+SSE of 2024-11-05. */
export class SseChannel implements Channel {
  receive: (message: Message) => void = () => {};
  readonly #url: string;
  readonly #ended = new AbortController();
  readonly #endpoint: Promise<string>;

  constructor(url: string) {
    this.#url = url;
    this.#endpoint = new Promise((resolve) => void this.#follow(resolve));
  }

  async send(message: Message): Promise<void> {
    await (await send(await this.#endpoint, message)).text();
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.#ended.abort();
  }

  async #follow(opened: (endpoint: string) => void): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        headers: { accept: "text/event-stream" },
        signal: this.#ended.signal,
      });
      for await (const { event, data, message } of eventsOf(response)) {
        if (event === "endpoint") opened(new URL(data ?? "", this.#url).href);
        else if (message) this.receive(message as Message);
      }
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error;
    }
  }
}

/** The pipes of a gateway that serves this client alone. */
export class StdioChannel implements Channel {
  receive: (message: Message) => void = () => {};
  readonly #child;
  readonly #exited: Promise<unknown>;

  constructor({ command, args, env }: { command: string; args: string[]; env: NodeJS.ProcessEnv }) {
    this.#child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    this.#exited = once(this.#child, "exit");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.receive(JSON.parse(line) as Message));
  }

  async send(message: Message): Promise<void> {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#exited;
  }
}
