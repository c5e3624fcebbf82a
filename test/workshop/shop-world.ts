import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { sha256 } from "../../src/text/digest.ts";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner, type ApiRunnerOptions } from "../../src/workshop/run/api-runner.ts";

export const SECRETS: Record<string, string> = {
  "shop.user": "partner-7",
  "shop.password": "p&ss w+rd/ö",
  "shop.pin-1": "4711",
};
/** Every form in which a hidden secret may turn up. */
export const HIDDEN = ["p&ss w+rd/ö", "p%26ss", "p&amp;ss", "4711", Buffer.from("p&ss w+rd/ö").toString("base64")];

export const MANUAL = `# Shop manual

## Searching

Ask with user=partner-7 and password=p&ss w+rd/ö.

## Ordering

The PIN is 4711.
`;

const FILE = `
nexus: 1
api: shop
title: Corner shop
description: Finds and orders things.
version: 1.2.0
documents: { manual: { file: manual.md, sha256: "${sha256(MANUAL)}", title: Shop manual } }
upstream: { base: "https://shop.example/api/", timeout: 2s }
secrets:
  login: { query: { user: user, password: password }, public: [user] }
  till: { headers: { X-Pin: "pin-{shopId}" } }
types:
  Query:
    xml: { element: query }
    fields:
      text: { type: string, minLength: 1, maxLength: 20, evidence: manual#L3-L5 }
      kind: { type: string, codes: { 1: food, 2: tool }, default: food, evidence: manual#L5 }
  Found:
    xml: { element: found, namespace: "urn:shop" }
    fields:
      count: { value: count(items), type: integer }
      asked: { value: input.text, type: string }
      items: { wire: "items/item[]", list: Item }
      note: { type: string, optional: true }
      error: { type: string, hidden: true, optional: true }
  Item:
    fields:
      code: { wire: "@code", type: string }
      price: { type: number }
      kind: { type: string, codes: { 1: food, 2: tool }, optional: true }
  Order:
    xml: { element: order }
    fields:
      shopId: { type: integer, minimum: 1, default: 1, evidence: manual#L9 }
      code: { type: string }
      units: { type: integer, minimum: 1, default: 1 }
      expectedTotal: { wire: total, type: number }
      reference: { wire: false, type: string, optional: true }
      orderId: { wire: "@id", value: request_key(), type: string }
      orderedAt: { wire: "@at", value: now(), type: datetime }
      channel: { wire: "@channel", const: nexus }
  Ordered:
    xml: { element: ordered, namespace: "urn:shop" }
    fields:
      accepted: { type: presence, hidden: true, optional: true }
      orderId: { wire: "@id", type: string, optional: true }
      total: { value: input.expectedTotal, type: number }
      error: { type: string, hidden: true, optional: true }
  Bell:
    xml: { element: bell }
    fields:
      times: { type: integer }
tools:
  find_items:
    title: Find items
    description: Finds items by a word.
    effect: read
    input: Query
    request: { method: POST, path: find, secrets: login, body: xml }
    response: { as: xml, type: Found, text: "Found {count} items for {input.text}.", sourcePayload: true }
    errors:
      - { status: 401, say: "The shop refused the credentials of {input.text}.", try: Set them again. }
      - { that: error != null, say: "The shop says: {error}" }
    limits: { timeout: 2s, retries: 2, result: 1kB }
  order_item:
    title: Order an item
    description: Orders an item.
    effect: write
    input: Order
    request: { method: POST, path: "shops/{shopId}/orders", secrets: till, body: xml }
    response: { as: xml, type: Ordered, text: "Ordered {orderId} for {total}.", sourcePayload: true }
    errors:
      - { that: error != null, say: "The shop refused: {error}" }
      - { that: accepted != true, say: The shop neither took nor refused it., outcome: unknown }
    outcomeUnknown: "Ask the shop whether the order {input.orderId} arrived."
    limits: { timeout: 2s, retries: 0, result: 1kB }
    confirm:
      field: expectedTotal
      call: find_items
      arguments: { text: "= input.code" }
      find: first(answer.items, code == input.code)
      actual: round(found.price * input.units, 2)
      ask: "{input.code} costs {actual}, not {expected}. Order it?"
      gone: "{input.code} is gone."
  ring_bell:
    title: Ring the bell
    description: Rings it.
    effect: write
    input: Bell
    request: { method: POST, path: bell, body: xml }
    response: { as: none, text: It rang. }
    limits: { timeout: 2s }
`;

interface Asked {
  url: string;
  body: string;
  headers: IncomingMessage["headers"];
}

export type Reply = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

/** What the shop answers to a search. */
export function found(...items: [string, number][]): Reply {
  const inner = items
    .map(([code, price]) => `<item code="${code}"><price>${price}</price><kind>1</kind></item>`)
    .join("");
  return xml(`<found xmlns="urn:shop"><items>${inner}</items></found>`);
}

export function ordered(): Reply {
  return ({ body }, response) => {
    const [, id = ""] = / id="(\w+)"/.exec(body) ?? [];
    response
      .setHeader("content-type", "application/xml")
      .end(`<ordered xmlns="urn:shop" id="${id}"><accepted/></ordered>`);
  };
}

export function xml(text: string, status = 200): Reply {
  return (_, response) => response.writeHead(status, { "content-type": "application/xml" }).end(text);
}

export function status(code: number, headers: Record<string, string> = {}): Reply {
  return (_, response) => response.writeHead(code, headers).end("<html>Oops</html>");
}

export const cut: Reply = (_, response) => {
  response.writeHead(200, { "content-type": "application/xml", "content-length": "1000" });
  response.write("<found ", () => response.destroy());
};

/** Nothing ever comes. */
export const silence: Reply = () => {};

export interface Shop extends AsyncDisposable {
  runner: ApiRunner;
  /** By the end of the path: what is answered, in order; the last one stays. */
  replies: Record<string, Reply[]>;
  asked: Asked[];
  askedFor(path: string): Asked[];
  logged: { level: string; message: string; data: Record<string, unknown> }[];
  pauses: number[];
  url: string;
  /** Another runner on the same shop. */
  open(options?: Partial<ApiRunnerOptions>): ApiRunner;
}

export async function openShop(options: Partial<ApiRunnerOptions> = {}, edit = (text: string) => text): Promise<Shop> {
  const { file, problems } = readToolFile(edit(FILE), "shop.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  const { api } = compileApi(file, { manual: MANUAL });

  const replies: Shop["replies"] = { find: [found(["tea", 3])], orders: [ordered()], bell: [status(204)] };
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const one = { url: request.url ?? "", body, headers: request.headers };
    asked.push(one);
    const waiting = replies[pathOf(one.url)] ?? [];
    const reply = waiting.length > 1 ? waiting.shift() : waiting[0];
    (reply ?? status(404))(one, response, request);
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;

  const logged: Shop["logged"] = [];
  const pauses: number[] = [];
  const to =
    (level: string) =>
    (message: string, data = {}) =>
      void logged.push({ level, message, data });
  const runners: ApiRunner[] = [];
  const open = (more: Partial<ApiRunnerOptions> = {}) => {
    const runner = new ApiRunner(api, {
      secrets: async (name) => SECRETS[name],
      upstream: url,
      logger: { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") },
      pause: async (ms) => void pauses.push(ms),
      ...options,
      ...more,
    });
    runners.push(runner);
    return runner;
  };
  const close = async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    open();
  } catch (error) {
    await close();
    throw error;
  }
  const [runner] = runners as [ApiRunner];
  return {
    runner,
    replies,
    asked,
    askedFor: (path) => asked.filter((one) => pathOf(one.url) === path),
    logged,
    pauses,
    url,
    open,
    [Symbol.asyncDispose]: close,
  };
}

function pathOf(url: string): string {
  return new URL(url, "http://shop").pathname.split("/").at(-1) ?? "";
}
