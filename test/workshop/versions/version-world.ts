import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import type { Store } from "../../../src/store/store.ts";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import type { ApiInstance, PublishedVersion } from "../../../src/workshop/publish/published.ts";

/** The tool file of a shop. Version 2 asks elsewhere, has another field, and another tool. */
export function shopFile(major: 1 | 2, { wording = "Finds things." } = {}): string {
  const isFirst = major === 1;
  return `nexus: 1
api: shop
title: Shop
description: ${wording}
version: ${major}.0.0
upstream: { base: "https://shop.example/", timeout: 30s }
types:
  Query:
    fields:
      text: { type: string }
      ${isFirst ? "kind: { type: string, optional: true }" : "category: { type: string, optional: true }"}
  Found:
    fields:
      by: { type: string }
  Order:
    fields:
      code: { type: string }
      expected: { type: number, wire: false }
      orderId: { value: request_key(), type: string }
  Ordered:
    fields:
      by: { type: string }
  PriceQuery:
    fields: { code: { type: string } }
  Price:
    fields: { price: { type: number } }
tools:
  find:
    title: Find
    description: ${wording}
    effect: read
    input: Query
    request:
      method: GET
      path: v${major}/find
      query: { text: text, ${isFirst ? "kind: kind" : "category: category"} }
    response: { as: json, type: Found, text: "Found by {by}." }
    limits: { retries: 0, result: 4kB }
  price:
    title: Price
    description: The price of a thing.
    effect: read
    input: PriceQuery
    request: { method: GET, path: price, query: { code: code } }
    response: { as: json, type: Price, text: "{price}" }
    limits: { retries: 0, result: 4kB }
  order:
    title: Order
    description: Orders a thing.
    effect: write
    input: Order
    request: { method: POST, path: v${major}/order, body: json }
    response: { as: json, type: Ordered, text: "Ordered by {by}." }
    confirm:
      call: price
      arguments: { code: input.code }
      find: answer
      actual: found.price
      field: expected
      ask: "It costs {found.price} now, not {input.expected}."
      gone: It is gone.
    outcomeUnknown: Ask the shop.
    limits: { retries: 0, result: 4kB }
  ${isFirst ? "old_stock" : "new_stock"}:
    title: Stock
    description: What is there.
    effect: read
    input: PriceQuery
    request: { method: GET, path: v${major}/stock, query: { code: code } }
    response: { as: json, type: Found, text: "Stock by {by}." }
    limits: { retries: 0, result: 4kB }
`;
}

/** A version of the shop as it is stored; the number decides which file it is. */
function shopVersion(version: string): PublishedVersion {
  const text = shopFile(version.startsWith("1.") ? 1 : 2, { wording: `Finds things, as of ${version}.` });
  const { file } = readToolFile(text, "shop.nexus.yaml");
  if (!file) throw new Error("not a tool file");
  const { api: compiled } = compileApi(file, {});
  const approval = { hash: compiled.hash, by: "Ada", at: "2026-11-02T09:00:00.000Z", version: file.version };
  const published = { publishedBy: "Ada", publishedAt: "2026-11-02T10:00:00.000Z", origin: "local" } as const;
  const { hash } = compiled;
  return { api: "shop", version, hash, approval, ...published, state: "published", compiled, documents: {}, text };
}

/** Publishes a version, or makes one current that is there. */
export async function publishShop(
  store: Store,
  { tenant = "default", version, ...more }: Partial<ApiInstance> & { tenant?: string; version: string },
): Promise<void> {
  await store.apis(tenant).change(async (apis) => {
    if (!(await apis.read.records("shop")).some((record) => record.version === version))
      await apis.add(shopVersion(version));
    const server = more.server ?? "shop";
    const before = await apis.read.instance(server);
    const first: ApiInstance = {
      api: "shop",
      name: "live",
      server,
      current: version,
      former: [],
      settings: {},
      origin: "local",
    };
    await apis.putInstance({ ...first, ...before, ...more, current: version });
  });
}

/** The upstream of the shop: it answers with the version that was asked, at once or when it is let. */
export class ShopUpstream implements AsyncDisposable {
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #held: (() => void)[] = [];
  #holds = false;

  static async open(): Promise<ShopUpstream> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ShopUpstream(server);
  }

  private constructor(server: Server) {
    this.#server = server.on("request", (req, res) => this.#answer(req, res));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  /** Answers wait from now on. */
  hold(): void {
    this.#holds = true;
  }

  get waiting(): number {
    return this.#held.length;
  }

  release(): void {
    this.#holds = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const { url = "", method = "" } = req;
    this.requests.push(`${method} ${url}`);
    req.resume();
    const body = url.startsWith("/price") ? { price: 7 } : { by: url.split("/")[1] };
    const answer = () => res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (this.#holds && !url.startsWith("/price")) this.#held.push(answer);
    else answer();
  }
}
