import { createServer, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { compileApi, type CompiledApi } from "../../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import { CallTranslation, type SeenVersion } from "../../../src/workshop/publish/translate-call.ts";
import { ApiRunner } from "../../../src/workshop/run/api-runner.ts";

const FIRST = `
nexus: 1
api: shop
title: Shop
version: 1.0.0
upstream: { base: https://shop.example/v1/, allow: [https://shop.example/] }
secrets:
  key: { headers: { x-key: key } }
  other: { headers: { x-other: other } }
types:
  Filter:
    fields:
      status: { type: string, codes: { 0: open, 1: paid, 2: sent }, optional: true }
      limit: { type: integer, minimum: 1, maximum: 100, default: 20 }
      after: { type: date, optional: true }
      tags: { list: { type: string }, optional: true }
  Order:
    fields:
      customer: { type: string, maxLength: 40 }
      amount: { type: number, minimum: 0 }
      currency: { type: string, enum: [EUR, USD], default: EUR }
      express: { type: boolean, default: false }
      note: { type: string, optional: true }
      address: { type: Address, optional: true }
  Address:
    fields:
      street: { type: string }
      zip: { type: string, pattern: "^[0-9]{4,5}$" }
  OrderId: { fields: { id: { type: integer }, reason: { type: string, optional: true } } }
  Orders: { fields: { count: { type: integer }, next: { type: string, optional: true } } }
  Done: { fields: { id: { type: integer }, total: { type: number, optional: true } } }
tools:
  find_orders:
    title: Find orders
    description: Finds orders.
    effect: read
    input: Filter
    request: { method: GET, path: orders, secrets: key, query: { status: status, limit: limit, after: after, tags: tags } }
    response: { type: Orders, as: json, text: "{count} orders." }
  create_order:
    title: Create an order
    description: Creates an order.
    effect: write
    input: Order
    request: { method: POST, path: orders, secrets: key, body: json }
    response: { type: Done, as: json, text: "Order {id}." }
  cancel_order:
    title: Cancel an order
    description: Cancels an order.
    effect: destructive
    input: OrderId
    request: { method: DELETE, path: "orders/{id}", secrets: key, query: { reason: reason } }
    response: { as: none, text: Cancelled. }
`;

/** What callers of the first version send. */
const CALLS: readonly [tool: string, args: Record<string, unknown>][] = [
  ["find_orders", {}],
  ["find_orders", { status: "paid", limit: 5 }],
  ["find_orders", { after: "2030-01-02", tags: ["a", "b"], limit: 100 }],
  ["create_order", { customer: "Ada", amount: 12.5 }],
  ["create_order", { customer: "Ada", amount: 1, currency: "USD", express: true, note: "7" }],
  ["create_order", { customer: "Ada", amount: 0, address: { street: "Lane 1", zip: "1010" } }],
  ["cancel_order", { id: 7 }],
  ["cancel_order", { id: 7, reason: "paid" }],
];

type Fields = Record<string, Record<string, unknown>>;

interface Written {
  upstream: Record<string, unknown>;
  types: Record<string, { fields: Fields; rules?: unknown[] }>;
  tools: Record<string, Record<string, unknown> & { request: Record<string, unknown> & { query: Fields } }>;
}

const fieldsOf = (file: Written, type: string): Fields => file.types[type]?.fields ?? {};
const requestOf = (file: Written, tool: string) => file.tools[tool]?.request ?? { query: {} };

/** Sets members of a field. */
const set = (type: string, field: string, members: Record<string, unknown>) => (file: Written) => {
  const fields = fieldsOf(file, type);
  fields[field] = { ...fields[field], ...members };
};
const remove = (type: string, field: string) => (file: Written) => {
  delete fieldsOf(file, type)[field];
  for (const { request } of Object.values(file.tools)) delete request.query?.[field];
};
const rename = (type: string, field: string, to: string, keepsWire: boolean) => (file: Written) => {
  const fields = fieldsOf(file, type);
  const renamed = { ...fields[field], ...(keepsWire && type === "Order" ? { wire: field } : {}) };
  file.types[type] = {
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, spec]) => (name === field ? [to, renamed] : [name, spec])),
    ),
  };
  for (const { request } of Object.values(file.tools)) {
    if (!request.query || !Object.hasOwn(request.query, field)) continue;
    const { [field]: spec, ...others } = request.query as unknown as Record<string, unknown>;
    request["query"] = { ...others, [keepsWire ? field : to]: spec === field ? to : spec } as unknown as Fields;
  }
};

/** Each makes a second version of the first. */
const CHANGES: Record<string, (file: Written) => void> = {
  "an optional field is added": set("Order", "coupon", { type: "string", optional: true }),
  "a field with a default is added": set("Order", "channel", { type: "string", default: "web" }),
  "a required field is added": set("Order", "phone", { type: "string" }),
  "a constant is added to the body": set("Order", "source", { type: "string", const: "nexus" }),
  "an optional query parameter is added": (file) => {
    set("Filter", "page", { type: "integer", optional: true })(file);
    requestOf(file, "find_orders").query["page"] = "page" as never;
  },
  "an optional field is removed": remove("Order", "note"),
  "a required field is removed": remove("Order", "amount"),
  "a query parameter is removed": remove("Filter", "tags"),
  "a field inside another is removed": remove("Address", "street"),
  "a field with a default is removed": remove("Order", "express"),
  "a field is renamed here only": rename("Order", "customer", "buyer", true),
  "a field is renamed here and upstream": rename("Order", "customer", "buyer", false),
  "a query parameter is renamed here only": rename("Filter", "limit", "size", true),
  "a query parameter is renamed here and upstream": rename("Filter", "limit", "size", false),
  "a field is called otherwise upstream": set("Order", "customer", { wire: "client" }),
  "a field moves inside another upstream": set("Order", "note", { wire: "texts.note" }),
  "two fields swap their names": (file) => {
    set("Order", "customer", { wire: "note" })(file);
    set("Order", "note", { wire: "customer" })(file);
  },
  "a text becomes shorter": set("Order", "customer", { maxLength: 2 }),
  "a text may be longer": set("Order", "customer", { maxLength: 400 }),
  "a number becomes smaller": set("Filter", "limit", { maximum: 50 }),
  "a number may be larger": set("Filter", "limit", { maximum: 1000 }),
  "a pattern becomes stricter": set("Address", "zip", { pattern: "^[0-9]{5}$" }),
  "a pattern becomes wider": set("Address", "zip", { pattern: "^[0-9A-Z]{4,9}$" }),
  "an optional field becomes required": set("Order", "note", { optional: false }),
  "a required field becomes optional": set("Order", "amount", { optional: true }),
  "a default changes": set("Order", "currency", { default: "USD" }),
  "a default of a query parameter changes": set("Filter", "limit", { default: 50 }),
  "a default is dropped": (file) => {
    const { default: _, ...rest } = fieldsOf(file, "Order")["currency"] ?? {};
    fieldsOf(file, "Order")["currency"] = rest;
  },
  "a default is added": set("Order", "note", { default: "none", optional: false }),
  "a code gets another name": set("Filter", "status", { codes: { 0: "open", 1: "settled", 2: "sent" } }),
  "a code gets another value": set("Filter", "status", { codes: { 0: "open", 5: "paid", 2: "sent" } }),
  "two codes swap their names": set("Filter", "status", { codes: { 0: "open", 2: "paid", 1: "sent" } }),
  "a code is added": set("Filter", "status", { codes: { 0: "open", 1: "paid", 2: "sent", 3: "lost" } }),
  "a code is removed": set("Filter", "status", { codes: { 0: "open", 2: "sent" } }),
  "a value of an enumeration is removed": set("Order", "currency", { enum: ["EUR"] }),
  "a number becomes a text": set("Order", "amount", { type: "string", minimum: undefined }),
  "a whole number becomes a decimal": set("OrderId", "id", { type: "number" }),
  "a decimal becomes a whole number": set("Order", "amount", { type: "integer" }),
  "a text becomes a date": set("Order", "note", { type: "date" }),
  "decimals are written upstream": set("Order", "amount", { decimals: 2 }),
  "a text becomes a list": set("Order", "note", { type: undefined, list: { type: "string" } }),
  "a boolean becomes a text": set("Order", "express", { type: "string", default: "no" }),
  "a list is written in another style": (file) => {
    requestOf(file, "find_orders").query["tags"] = { field: "tags", style: "comma" };
  },
  "the path changes": (file) => void (requestOf(file, "create_order")["path"] = "purchases"),
  "the method changes": (file) => void (requestOf(file, "create_order")["method"] = "PUT"),
  "the base address changes": (file) => void (file.upstream["base"] = "https://shop.example/v2/"),
  "other credentials are used": (file) => void (requestOf(file, "cancel_order")["secrets"] = "other"),
  "the body becomes a form": (file) => {
    requestOf(file, "create_order")["body"] = "form";
    delete fieldsOf(file, "Order")["address"];
  },
  "a rule is added": (file) =>
    void (file.types["Order"] = {
      fields: fieldsOf(file, "Order"),
      rules: [{ that: "amount < 10", say: "amount must be below 10" }],
    }),
  "a tool is removed": (file) => void delete file.tools["cancel_order"],
  "a tool takes the name of another": (file) => {
    file.tools["create_order"] = { ...file.tools["cancel_order"], request: requestOf(file, "cancel_order") };
  },
  "a result loses a field": remove("Done", "total"),
  "only words change": (file) => {
    set("Order", "note", { description: "Something to tell the shop." })(file);
    file.tools["find_orders"] = {
      ...file.tools["find_orders"],
      request: requestOf(file, "find_orders"),
      title: "Orders",
    };
  },
};

function compiled(change: (file: Written) => void = () => {}): CompiledApi {
  const written = parse(FIRST) as Written;
  change(written);
  const { file, problems } = readToolFile(stringify(JSON.parse(JSON.stringify(written))), "shop.nexus.yaml");
  if (!file) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return compileApi(file, {}).api;
}

/** Remembers what arrives. */
const upstream = createServer((request, response) => {
  void received(request).then((text) => {
    arrived.push(text);
    response.setHeader("content-type", "application/json").end(`{"id":1,"count":0}`);
  });
});
const arrived: string[] = [];
let address = "";

async function received(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const { method, url, headers } = request;
  return JSON.stringify([method, url, headers["x-key"], headers["x-other"], headers["content-type"], body]);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const bound = upstream.address();
  address = `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/`;
});
afterAll(() => new Promise((resolve) => upstream.close(resolve)));

type Call = (typeof CALLS)[number];
const known = new Map<CompiledApi, Map<Call, Promise<string | undefined>>>();

/** What a version sends for a call; undefined if it refuses the arguments. The base address is that of the file. */
function sent(api: CompiledApi, call: Call): Promise<string | undefined> {
  const ofVersion = known.get(api) ?? new Map<Call, Promise<string | undefined>>();
  known.set(api, ofVersion);
  const found = ofVersion.get(call) ?? send(api, call);
  ofVersion.set(call, found);
  return found;
}

async function send(api: CompiledApi, [tool, args]: Call): Promise<string | undefined> {
  await using runner = new ApiRunner(api, { upstream: address, secrets: async (name) => `value of ${name}` });
  const before = arrived.length;
  if (Object.hasOwn(api.file.tools, tool)) await runner.call(tool, args);
  const request = arrived[before];
  return request === undefined ? undefined : `${api.file.upstream.base} ${request}`;
}

describe("a call that was written for an earlier version", () => {
  const first = compiled();

  test("there are at least 40 changes", () => {
    expect(Object.keys(CHANGES).length).toBeGreaterThanOrEqual(40);
  });

  test.each(Object.entries(CHANGES))("%s: it sends the same, or is refused", async (_, change) => {
    const second = compiled(change);
    const translation = new CallTranslation();
    const at = Date.UTC(2030, 0, 1);
    for (const isPublished of [true, false]) {
      const versions: SeenVersion[] = [
        { api: first, isPublished },
        { api: second, isPublished: true },
      ];
      for (const seen of [first, undefined]) {
        for (const call of CALLS) {
          const meant = await sent(first, call);
          expect(meant).toBeDefined();
          const outcome = translation.of(
            { tool: call[0], arguments: call[1] },
            { current: second, versions, seen },
            at,
          );
          if (outcome.kind === "run") expect(await sent(outcome.by, call)).toBe(meant);
          else expect(outcome.message).toMatch(/^Nothing was sent: .* Refresh the list of tools/);
          // A caller whose version is known and still published is never refused.
          if (seen && isPublished) expect(outcome.kind).toBe("run");
          // A version that is retired makes no calls.
          if (outcome.kind === "run" && !isPublished) expect(outcome.by).toBe(second);
        }
      }
    }
  });

  test("a caller that has seen the current version is not asked to refresh", () => {
    const second = compiled(set("Order", "currency", { default: "USD" }));
    const versions = [first, second].map((api) => ({ api, isPublished: true }));
    const call = { tool: "create_order", arguments: { customer: "Ada", amount: 1 } };
    const translation = new CallTranslation();
    expect(translation.of(call, { current: second, versions, seen: second }, 0)).toEqual({ kind: "run", by: second });
    expect(translation.of(call, { current: second, versions }, 0).kind).toBe("refused");
    expect(translation.of(call, { current: second, versions, seen: first }, 0)).toEqual({ kind: "run", by: first });
  });

  test("a version that sends the same with a result of the same form makes the call, because its effect may be corrected", () => {
    const second = compiled((file) => {
      file.tools["find_orders"] = {
        ...file.tools["find_orders"],
        request: requestOf(file, "find_orders"),
        effect: "write",
      };
    });
    const versions = [first, second].map((api) => ({ api, isPublished: true }));
    const call = { tool: "find_orders", arguments: {} };
    expect(new CallTranslation().of(call, { current: second, versions, seen: first }, 0)).toEqual({
      kind: "run",
      by: second,
    });
  });

  test("a call that no version accepts goes to the one it was written for, or to the current one", () => {
    const second = compiled(CHANGES["a required field is added"]);
    const versions = [first, second].map((api) => ({ api, isPublished: true }));
    const call = { tool: "create_order", arguments: { amount: "much" } };
    const translation = new CallTranslation();
    expect(translation.of(call, { current: second, versions }, 0)).toEqual({ kind: "run", by: second });
    expect(translation.of(call, { current: second, versions, seen: first }, 0)).toEqual({ kind: "run", by: first });
  });
});
