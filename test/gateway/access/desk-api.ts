import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { MemoryTransport } from "../../../src/transport/memory.ts";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../../src/workshop/run/api-runner.ts";
import { apiServer, transportTo } from "../../../src/workshop/serve/api-server.ts";

type Effect = "read" | "write" | "destructive";

export interface DeskTool {
  name: string;
  effect: Effect;
  isSearched: boolean;
  description?: string;
}

/** What reached the upstream of an API. */
export interface Reached {
  path: string;
  body: unknown;
}

/** An upstream on a socket that notes what reaches it. */
export class DeskUpstream implements AsyncDisposable {
  readonly reached: Reached[] = [];
  readonly url: string;
  readonly #close: () => Promise<void>;

  static async open(): Promise<DeskUpstream> {
    let reached: Reached[] = [];
    const serve = async (req: IncomingMessage, res: ServerResponse) => {
      reached.push({ path: req.url ?? "", body: await json(req) });
      res.writeHead(200, { "content-type": "application/json" }).end(`{"done":"yes"}`);
    };
    const http = createServer((req, res) => void serve(req, res));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const close = async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    };
    const upstream = new DeskUpstream(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`, close);
    reached = upstream.reached;
    return upstream;
  }

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** An API of which each tool takes an account, a note and a number. */
function deskFile(tools: readonly DeskTool[]): string {
  const written = tools.map(
    ({ name, effect, isSearched, description = `Does ${name}.` }) => `  ${name}:
    title: ${name}
    description: ${description}
    effect: ${effect}
${isSearched ? "    offer: search\n" : ""}    input: Input
    request: { path: ${name}, method: POST, body: json }
    response: { as: json, type: Done, text: "Done: {done}." }
${effect === "read" ? "" : "    outcomeUnknown: Ask the desk.\n"}`,
  );
  return `nexus: 1
api: desk
title: Desk
description: Orders.
version: 1.0.0
upstream: { base: "https://desk.example/", timeout: 30s }
types:
  Input:
    fields:
      account: { type: string, optional: true }
      note: { type: string, optional: true }
      number: { type: integer, optional: true }
  Done: { fields: { done: { type: string } } }
tools:
${written.join("")}`;
}

/** That API in this process, as a host opens it. */
export class DeskApi implements AsyncDisposable {
  readonly #runner: ApiRunner;

  static open(tools: readonly DeskTool[], upstream: string): DeskApi {
    const { file, problems } = readToolFile(deskFile(tools), "desk.nexus.yaml");
    if (!file) throw new Error(JSON.stringify(problems));
    const { api } = compileApi(file, {});
    return new DeskApi(new ApiRunner(api, { secrets: async () => undefined, upstream }));
  }

  private constructor(runner: ApiRunner) {
    this.#runner = runner;
  }

  get transport(): MemoryTransport {
    return transportTo(apiServer(this.#runner, { documents: {} }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runner[Symbol.asyncDispose]();
  }
}
