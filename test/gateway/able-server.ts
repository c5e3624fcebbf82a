import type { Message, Params, Request } from "../../src/protocol/json-rpc.ts";
import { MemoryTransport, type MemoryPeer } from "../../src/transport/memory.ts";

/** One client of such a server. */
interface Connected {
  peer: MemoryPeer;
  capabilities: Params;
}

/** A legacy server that has a tool for everybody, and one more for each capability that its client declares. */
export class AbleServer {
  /** Those that were ever opened, and what they declared. */
  readonly declared: Params[] = [];
  readonly #open = new Set<Connected>();
  /** Added to the name of every tool that needs a capability. */
  suffix = "";
  /** Resolves before a client that declares something is welcomed. */
  welcome: Promise<unknown> = Promise.resolve();
  readonly transport = new MemoryTransport((peer) => {
    const client: Connected = { peer, capabilities: {} };
    this.#open.add(client);
    void peer.closed.then(() => this.#open.delete(client));
    peer.onMessage = (message) => void this.#receive(client, message);
  });

  /** Connections that are open. */
  get connections(): number {
    return this.#open.size;
  }

  /** Tells those who declare nothing, or those who declare something, that the tools changed. */
  tell(whom: "everybody" | "able"): void {
    for (const { peer, capabilities } of this.#open) {
      if (whom === "able" && Object.keys(capabilities).length === 0) continue;
      peer.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    }
  }

  async #receive(client: Connected, message: Message): Promise<void> {
    if (!("method" in message) || !("id" in message)) return;
    const result = await this.#answer(client, message);
    const outcome = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    client.peer.send({ jsonrpc: "2.0", id: message.id, ...outcome });
  }

  async #answer(client: Connected, { method, params = {} }: Request): Promise<Params | undefined> {
    if (method === "initialize") {
      client.capabilities = params["capabilities"] as Params;
      this.declared.push(client.capabilities);
      if (Object.keys(client.capabilities).length > 0) await this.welcome;
      const serverInfo = { name: "able", version: "1" };
      return { protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } }, serverInfo };
    }
    if (method === "ping") return {};
    if (method === "tools/list") return { tools: toolsFor(client.capabilities, this.suffix) };
    if (method === "tools/call") return { content: [{ type: "text", text: String(params["name"]) }] };
    return undefined;
  }
}

export function toolsFor(capabilities: Params, suffix = ""): Params[] {
  const names = Object.keys(capabilities).sort();
  return ["plain", ...names.map((name) => name + suffix)].map((name) => ({ name, inputSchema: { type: "object" } }));
}
