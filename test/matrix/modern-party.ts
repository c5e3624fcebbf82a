import { isRecord } from "../../src/json/is-record.ts";
import {
  isResponse,
  type Message,
  type Notification,
  type Params,
  type Request,
  type Response,
  type Result,
} from "../../src/protocol/json-rpc.ts";
import type { Question } from "../../src/protocol/mcp.ts";
import { META } from "../../src/protocol/meta.ts";
import { LATEST } from "../../src/protocol/revisions.ts";
import { eventsOf, send } from "../gateway/legacy/legacy-wire.ts";
import type { StdioChannel } from "./channels.ts";
import { type Answers, capabilitiesOf, type Party, type PartyCall } from "./party.ts";

/** Sends one request and hands over all that comes back on it; the promise is the answer, or the end of the stream. */
export type Post = (request: Request, receive: (message: Message) => void, signal?: AbortSignal) => Promise<void>;

/** Bare messages of 2026-07-28. */
export class ModernParty implements Party {
  readonly told: Notification[] = [];
  readonly #post: Post;
  readonly #answers: Answers;
  readonly #close: () => Promise<void>;
  readonly #ended = new AbortController();
  #lastId = 0;

  constructor(post: Post, answers: Answers, close: () => Promise<void> = async () => {}) {
    this.#post = post;
    this.#answers = answers;
    this.#close = close;
  }

  async call(method: string, params: Params, options: PartyCall = {}): Promise<Result> {
    let more: Params = {};
    for (;;) {
      const result = await this.#exchange(method, { ...params, ...more }, options);
      if (result.resultType !== "input_required") return result;
      const asked = Object.entries(isRecord(result["inputRequests"]) ? result["inputRequests"] : {});
      const inputResponses = Object.fromEntries(asked.map(([key, one]) => [key, this.#answers.to(one as Question)]));
      const { requestState } = result;
      more = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
    }
  }

  async watch({ tools, uri }: { tools?: true; uri?: string }): Promise<void> {
    const notifications = {
      ...(tools ? { toolsListChanged: true } : {}),
      ...(uri === undefined ? {} : { resourceSubscriptions: [uri] }),
    };
    const request = this.#request("subscriptions/listen", { notifications }, {});
    await new Promise<void>((resolve, reject) => {
      const receive = (message: Message) => {
        if (isResponse(message)) return reject(new Error(`Not listened: ${JSON.stringify(message)}`));
        if ("method" in message && message.method === "notifications/subscriptions/acknowledged") resolve();
        else this.told.push(message);
      };
      this.#post(request, receive, this.#ended.signal).catch(() => {});
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#close();
  }

  async #exchange(method: string, params: Params, options: PartyCall): Promise<Result> {
    let answer: Response | undefined;
    const receive = (message: Message) => {
      if (isResponse(message)) answer = message;
      else if ("method" in message) {
        this.told.push(message);
        if (message.method === "notifications/progress") options.onProgress?.(message.params ?? {});
      }
    };
    await this.#post(this.#request(method, params, options), receive, options.signal);
    if (!answer) throw new Error(`${method} was not answered`);
    if ("error" in answer) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  #request(method: string, params: Params, { onProgress, logLevel }: PartyCall): Request {
    const id = ++this.#lastId;
    const _meta = {
      [META.protocolVersion]: LATEST,
      [META.clientCapabilities]: capabilitiesOf(LATEST),
      [META.clientInfo]: { name: "matrix", version: "1.0.0" },
      ...(onProgress ? { progressToken: id } : {}),
      ...(logLevel ? { [META.logLevel]: logLevel } : {}),
    };
    return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
  }
}

/** Over HTTP every request has a stream of its own, and leaving it cancels. */
export function overHttp(url: string): Post {
  return async (request, receive, signal) => {
    const { method, params = {} } = request;
    const name = params["name"] ?? params["uri"] ?? params["taskId"];
    const headers: Record<string, string> = { "mcp-protocol-version": LATEST, "mcp-method": method };
    if (typeof name === "string") headers["mcp-name"] = name;
    const response = await send(url, request, headers, signal);
    if (!response.headers.get("content-type")?.includes("text/event-stream")) {
      return receive((await response.json()) as Message);
    }
    for await (const { message } of eventsOf(response)) if (message) receive(message as Message);
  };
}

/** On a pipe everything comes by the same way: answers by their id, the rest by what it names. */
export function overStdio(channel: StdioChannel): Post {
  const open = new Map<unknown, (message: Message) => void>();
  channel.receive = (message) => {
    if (isResponse(message)) return open.get(message.id)?.(message);
    const { _meta, progressToken } = ("params" in message ? message.params : undefined) ?? {};
    const subscription = isRecord(_meta) ? _meta[META.subscriptionId] : undefined;
    const whose = open.get(subscription ?? progressToken) ?? [...open.values()].at(-1);
    whose?.(message);
  };
  return async (request, receive, signal) => {
    await new Promise<void>((resolve, reject) => {
      open.set(request.id, (message) => {
        receive(message);
        if (isResponse(message)) resolve();
      });
      signal?.addEventListener("abort", () => {
        const params = { requestId: request.id };
        void channel.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
        reject(new Error("cancelled"));
      });
      void channel.send(request);
    }).finally(() => open.delete(request.id));
  };
}
