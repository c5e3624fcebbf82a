import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Params } from "../../src/protocol/json-rpc.ts";
import { modern, OpenStream, send, type Answer } from "../fixtures/gateway/wire.ts";
import type { NexusWorld, Ran, RunOptions } from "../fixtures/nexus.ts";
import { LegacyWire } from "../gateway/legacy/legacy-wire.ts";

/** `nexus serve` in a process of its own. Callers are named by their keys; without one, nothing is sent. */
export class NexusGateway implements AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  readonly output: Omit<Ran, "code">;

  static async start(nexus: NexusWorld, args: readonly string[] = [], options: RunOptions = {}): Promise<NexusGateway> {
    const { child, output } = nexus.start(["serve", "--port", "0", "--json", ...args], options);
    const ended = once(child, "close");
    while (!output.stdout.includes("\n")) {
      const [what] = await Promise.race([once(child.stdout!, "data"), ended.then(() => [undefined])]);
      if (what === undefined) throw new Error(`nexus serve ended: ${output.stderr}`);
    }
    const { url } = JSON.parse(output.stdout) as { url: string };
    return new NexusGateway(url, child, output);
  }

  private constructor(url: string, child: ChildProcess, output: Omit<Ran, "code">) {
    this.url = url;
    this.child = child;
    this.output = output;
  }

  at(path: string): string {
    return new URL(path, this.url).href;
  }

  /** One request of a client of the newest revision. */
  post(key: string | undefined, method: string, params: Params = {}, path = "/mcp"): Promise<Answer> {
    return send(this.at(path), modern(method, params, { headers: bearer(key) }));
  }

  /** The status of a small request. */
  async statusFor(key: string | undefined): Promise<number> {
    return (await this.post(key, "tools/list")).status;
  }

  /** A request whose answer takes its time, or never ends. */
  open(key: string | undefined, method: string, params: Params): OpenStream {
    return new OpenStream(this.url, modern(method, params, { headers: bearer(key) }));
  }

  session(key: string | undefined, path = "/mcp"): Promise<LegacyWire> {
    return LegacyWire.open(this.at(path), "2025-11-25", {}, bearer(key));
  }

  /** The stream of a session of HTTP+SSE. */
  openSse(key: string | undefined): Promise<Response> {
    return fetch(this.at("/sse"), { headers: { accept: "text/event-stream", ...bearer(key) } });
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.child, "close");
    this.child.kill("SIGTERM");
    await ended;
  }
}

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
