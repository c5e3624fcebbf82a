import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { compileApi, type CompiledApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner, type ApiRunnerOptions } from "../../src/workshop/run/api-runner.ts";

const EXAMPLE = new URL("../../examples/workshop/steps.nexus.yaml", import.meta.url);

/** A request that the shop got. */
interface GardenRequest {
  /** `POST orders/O-1/lines` */
  what: string;
  body: Record<string, string | number>;
}

/** `arrived`: nothing happened yet. `done`: it was carried out, and not answered yet. */
type Moment = "arrived" | "done";

export interface Garden extends AsyncDisposable {
  url: string;
  asked: GardenRequest[];
  /** Requests that changed something. */
  written: GardenRequest[];
  /** Called at each moment of each request; `false` leaves it unanswered. */
  onMoment: (moment: Moment, request: GardenRequest) => boolean | Promise<boolean>;
  /** Statuses instead of carrying out, by request. */
  refuse: Map<string, number>;
  customers: { id: string; email: string }[];
  /** How often an order is still being processed. */
  processing: number;
  open(options?: Partial<ApiRunnerOptions>): ApiRunner;
}

/** The example, compiled; `edit` changes its text. */
export function gardenApi(edit = (text: string) => text): CompiledApi {
  const { file, problems } = readToolFile(edit(readFileSync(EXAMPLE, "utf8")), "steps.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  return compileApi(file, {}).api;
}

/** A shop behind the tools of examples/workshop/steps.nexus.yaml that remembers what reached it. */
export async function openGarden(api = gardenApi()): Promise<Garden> {
  const runners: ApiRunner[] = [];
  const garden: Garden = {
    url: "",
    asked: [],
    written: [],
    onMoment: () => true,
    refuse: new Map(),
    customers: [],
    processing: 1,
    open(options = {}) {
      const runner = new ApiRunner(api, {
        secrets: async () => "demo-token",
        upstream: garden.url,
        pause: async () => {},
        ...options,
      });
      runners.push(runner);
      return runner;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(runners.map((runner) => runner.close()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => void answer(garden, request, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  garden.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  return garden;
}

async function answer(garden: Garden, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  const { pathname } = new URL(request.url ?? "", "http://garden");
  const body = text === "" ? {} : (JSON.parse(text) as GardenRequest["body"]);
  const one = { what: `${request.method} ${pathname.replace("/v1/", "")}`, body };
  garden.asked.push(one);
  if (!(await garden.onMoment("arrived", one))) return;
  const status = garden.refuse.get(one.what) ?? garden.refuse.get(`${one.what} ${String(body["sku"] ?? "")}`);
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
    return;
  }
  if (request.method === "POST") garden.written.push(one);
  if (!(await garden.onMoment("done", one))) return;
  response.setHeader("content-type", "application/json").end(JSON.stringify(valueFor(garden, one)));
}

function valueFor(garden: Garden, { what, body }: GardenRequest): unknown {
  if (what === "GET customers") return { items: garden.customers };
  if (what === "POST customers") return { id: "C-9", email: body["email"] };
  if (what === "POST orders") return { id: "O-7" };
  if (what === "POST orders/O-7/lines") return { line: String(body["sku"]) === "RO101" ? 1 : 2, price: 12 };
  if (what !== "GET orders/O-7") return {};
  garden.processing -= 1;
  return { id: "O-7", state: garden.processing >= 0 ? "processing" : "confirmed" };
}
