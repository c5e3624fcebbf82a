import { connect, type Client, type ServerEntry } from "../../src/index.ts";
import type { Notification, Params, Result } from "../../src/protocol/json-rpc.ts";
import type { InputResult } from "../../src/protocol/mcp.ts";
import { LATEST } from "../../src/protocol/revisions.ts";
import { type Answers, capabilitiesOf, type Party, type PartyCall } from "./party.ts";

/** Our own client, which finds out by itself what the gateway speaks. */
export class OwnParty implements Party {
  readonly told: Notification[];
  readonly #client: Client;

  static async open(entry: ServerEntry, answers: Answers): Promise<OwnParty> {
    const told: Notification[] = [];
    const client = await connect(entry, {
      onNotification: (notification) => told.push(notification),
      input: {
        capabilities: capabilitiesOf(LATEST),
        handle: (request) => answers.to(request) as unknown as InputResult,
      },
    });
    return new OwnParty(client, told);
  }

  private constructor(client: Client, told: Notification[]) {
    this.#client = client;
    this.told = told;
  }

  async call(method: string, params: Params, { signal, onProgress, logLevel }: PartyCall = {}): Promise<Result> {
    if (logLevel && this.#client.era === "legacy") await this.#client.setLogLevel(logLevel);
    return this.#client.call(method, params, {
      signal,
      logLevel,
      onProgress: onProgress && ((progress) => onProgress({ ...progress })),
    });
  }

  async watch({ tools, uri }: { tools?: true; uri?: string }): Promise<void> {
    await this.#client.subscribe(
      { ...(tools ? { lists: ["tools"] } : {}), ...(uri === undefined ? {} : { resources: [uri] }) },
      (change) => {
        if ("notification" in change) this.told.push(change.notification);
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
