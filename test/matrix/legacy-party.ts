import {
  isRequest,
  isResponse,
  type Message,
  type Notification,
  type Params,
  type Response,
  type Result,
} from "../../src/protocol/json-rpc.ts";
import type { Revision } from "../../src/protocol/revisions.ts";
import type { Channel } from "./channels.ts";
import { type Answers, capabilitiesOf, type Party, type PartyCall } from "./party.ts";

/** Bare messages of 2024-11-05 … 2025-11-25. */
export class LegacyParty implements Party {
  readonly told: Notification[] = [];
  readonly #channel: Channel;
  readonly #answers: Answers;
  readonly #waiting = new Map<unknown, (response: Response) => void>();
  readonly #progress = new Map<unknown, (params: Params) => void>();
  #lastId = 0;

  static async open(channel: Channel, revision: Revision, answers: Answers): Promise<LegacyParty> {
    const party = new LegacyParty(channel, answers);
    const clientInfo = { name: "matrix", version: "1.0.0" };
    const capabilities = capabilitiesOf(revision);
    const { protocolVersion } = await party.call("initialize", { protocolVersion: revision, capabilities, clientInfo });
    if (protocolVersion !== revision) throw new Error(`Agreed upon ${String(protocolVersion)}, not ${revision}`);
    await channel.ready(revision);
    await channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return party;
  }

  private constructor(channel: Channel, answers: Answers) {
    this.#channel = channel;
    this.#answers = answers;
    channel.receive = (message) => this.#receive(message);
  }

  async call(method: string, params: Params, { signal, onProgress, logLevel }: PartyCall = {}): Promise<Result> {
    if (logLevel) await this.call("logging/setLevel", { level: logLevel });
    const id = ++this.#lastId;
    const answered = new Promise<Response>((resolve, reject) => {
      this.#waiting.set(id, resolve);
      signal?.addEventListener("abort", () => {
        reject(new Error("cancelled"));
        void this.#channel.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      });
    });
    if (onProgress) this.#progress.set(id, onProgress);
    const full = onProgress ? { ...params, _meta: { progressToken: id } } : params;
    const sent = this.#channel.send({ jsonrpc: "2.0", id, method, params: full });
    const [response] = await Promise.all([answered, sent]);
    if ("error" in response) throw new Error(`${method}: ${JSON.stringify(response.error)}`);
    return response.result;
  }

  /** Changes of lists are told unasked. */
  async watch({ uri }: { tools?: true; uri?: string }): Promise<void> {
    if (uri !== undefined) await this.call("resources/subscribe", { uri });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#channel.close();
  }

  #receive(message: Message): void {
    if (isResponse(message)) return this.#waiting.get(message.id)?.(message);
    if (isRequest(message)) {
      const { id, method } = message;
      const result = method === "ping" ? {} : this.#answers.to(message);
      return void this.#channel.send({ jsonrpc: "2.0", id, result });
    }
    this.told.push(message);
    if (message.method === "notifications/progress") {
      this.#progress.get(message.params?.["progressToken"])?.(message.params ?? {});
    }
  }
}
