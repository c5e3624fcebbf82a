import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Notification, Params, Result } from "../../src/protocol/json-rpc.ts";
import type { Question } from "../../src/protocol/mcp.ts";
import { receiveOneAtATime } from "./one-at-a-time.ts";
import { type Answers, capabilitiesOf, type Party, type PartyCall } from "./party.ts";

/** The client of the official SDK 1.x, which speaks the older revisions. */
export class Sdk1Party implements Party {
  readonly told: Notification[] = [];
  readonly #client: Client;

  static async open(transport: Transport, answers: Answers): Promise<Sdk1Party> {
    const party = new Sdk1Party(answers);
    await party.#client.connect(transport);
    receiveOneAtATime(transport);
    return party;
  }

  private constructor(answers: Answers) {
    const info = { name: "matrix", version: "1.0.0" };
    this.#client = new Client(info, { capabilities: capabilitiesOf("2025-11-25") });
    for (const schema of [CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema]) {
      this.#client.setRequestHandler(schema, (request) => answers.to(request as Question) as never);
    }
    this.#client.fallbackNotificationHandler = async (notification) => {
      this.told.push({ jsonrpc: "2.0", ...notification } as Notification);
    };
  }

  async call(method: string, params: Params, { signal, onProgress, logLevel }: PartyCall = {}): Promise<Result> {
    if (logLevel) await this.#client.setLoggingLevel(logLevel);
    const options = {
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onprogress: (progress: object) => onProgress({ ...progress }) } : {}),
    };
    return (await this.#client.request({ method, params }, ResultSchema, options)) as Result;
  }

  async watch({ uri }: { tools?: true; uri?: string }): Promise<void> {
    if (uri !== undefined) await this.#client.subscribeResource({ uri });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
