import { Client, type Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Notification, Params, Result } from "../../src/protocol/json-rpc.ts";
import type { Question } from "../../src/protocol/mcp.ts";
import { META } from "../../src/protocol/meta.ts";
import { LATEST } from "../../src/protocol/revisions.ts";
import { receiveOneAtATime } from "./one-at-a-time.ts";
import { type Answers, capabilitiesOf, type Party, type PartyCall } from "./party.ts";

const ANY_RESULT = z.looseObject({});

/** The client of the official SDK 2.x, held to the newest revision. */
export class Sdk2Party implements Party {
  readonly told: Notification[] = [];
  readonly #client: Client;

  static async open(transport: Transport, answers: Answers): Promise<Sdk2Party> {
    const party = new Sdk2Party(answers);
    await party.#client.connect(transport);
    receiveOneAtATime(transport);
    return party;
  }

  private constructor(answers: Answers) {
    // It takes no task for an answer, so it must not say that it follows them.
    const { extensions: _, ...capabilities } = capabilitiesOf(LATEST);
    this.#client = new Client(
      { name: "matrix", version: "1.0.0" },
      { capabilities, versionNegotiation: { mode: { pin: LATEST } } },
    );
    for (const method of ["sampling/createMessage", "elicitation/create", "roots/list"] as const) {
      this.#client.setRequestHandler(method, (request: unknown) => answers.to(request as Question) as never);
    }
    this.#client.fallbackNotificationHandler = async (notification) => {
      this.told.push({ jsonrpc: "2.0", ...notification } as Notification);
    };
  }

  async call(method: string, params: Params, { signal, onProgress, logLevel }: PartyCall = {}): Promise<Result> {
    const options = {
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onprogress: (progress: object) => onProgress({ ...progress }) } : {}),
    };
    const full = logLevel ? { ...params, _meta: { [META.logLevel]: logLevel } } : params;
    return this.#client.request({ method, params: full }, ANY_RESULT, options);
  }

  async watch({ tools, uri }: { tools?: true; uri?: string }): Promise<void> {
    await this.#client.listen({
      ...(tools ? { toolsListChanged: true } : {}),
      ...(uri === undefined ? {} : { resourceSubscriptions: [uri] }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
