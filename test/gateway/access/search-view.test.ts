import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditRecord, Decide, SetDefinition } from "../../../src/gateway/index.ts";
import { MemorySets } from "../../../src/gateway/sets/set-source.ts";
import type { KeyGrants } from "../../../src/store/keep/api-keys.ts";
import { Grants } from "../../../src/team/grants.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { cabinet } from "./access-servers.ts";
import { AccessWorld, namesIn, type AccessWorldOptions, type Asking } from "./access-world.ts";
import { DeskApi, DeskUpstream } from "./desk-api.ts";

const VIEW: Asking = { view: "search" };
const THREE = ["search_tools", "describe_tool", "call_tool"];

function opened(options: AccessWorldOptions = {}, sets?: Record<string, SetDefinition>): Promise<AccessWorld> {
  const shelf = new ScriptedServer({
    era: "modern",
    tools: {
      create_invoice: {
        description: "Writes an invoice for an order. It is sent\u202e later.",
        inputSchema: {
          type: "object",
          properties: { order: { type: "string" }, note: { type: "string" } },
          required: ["order"],
        },
        run: ({ order }) => `invoice ${String(order)}`,
      },
      "search.all": () => "all",
    },
  });
  return AccessWorld.open({ box: cabinet(), shelf }, { ...options, ...(sets ? { sets: new MemorySets(sets) } : {}) });
}

function keyRules(grants: Partial<KeyGrants>): { decide: Decide } {
  const all = new Grants({ allow: ["*"], deny: [], readOnly: false, ...grants });
  return { decide: (_principal, _operation, target) => all.decide(target) };
}

function use(world: AccessWorld, name: string, args: unknown, asking: Asking = VIEW): Promise<WireMessage> {
  return world.ask("tools/call", { name, arguments: args }, asking);
}

function calling(world: AccessWorld, name: unknown, args?: unknown, asking: Asking = VIEW): Promise<WireMessage> {
  return use(world, "call_tool", { name, ...(args === undefined ? {} : { arguments: args }) }, asking);
}

function textOf({ result }: WireMessage): string {
  return ((result?.content ?? []) as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}

interface Found {
  servers: { server: string; tools: { name: string; rank: number; effect: string }[] }[];
  more: number;
}

const found = ({ result }: WireMessage) => result?.structuredContent as Found;
const foundNames = (answer: WireMessage) =>
  found(answer)
    .servers.flatMap(({ tools }) => tools)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ name }) => name);

/** What is told apart in answers of the same kind. */
function comparable({ result, error }: WireMessage): string {
  return JSON.stringify({ result, error }).replaceAll(
    /"dev\.nexus\/correlationId":"[^"]*"|"correlationId":"[^"]*"/g,
    "",
  );
}

describe("the list", () => {
  test("has three tools at each address, which name the servers and how many tools each has", async () => {
    await using world = await opened({}, { some: { allow: ["shelf"] } });
    for (const asking of [VIEW, { ...VIEW, server: "shelf" }, { ...VIEW, set: "some" }]) {
      const { result } = await world.ask("tools/list", {}, asking);
      const tools = result?.tools as { name: string; description: string; outputSchema?: object }[];
      expect(tools.map(({ name }) => name)).toEqual(THREE);
      for (const { description } of tools) expect(description).toContain("shelf (2 tools)");
      expect(tools[0]?.description.includes("box (6 tools)")).toBe(!("set" in asking) && !("server" in asking));
      expect(tools[2]).not.toHaveProperty("outputSchema");
      expect(tools.map((tool) => (tool as { annotations?: object }).annotations)).toMatchObject([
        { readOnlyHint: true },
        { readOnlyHint: true },
        { destructiveHint: true, openWorldHint: true },
      ]);
    }
  });

  test("is the same in sessions of older clients, and a cursor of the plain list is not valid in it", async () => {
    await using world = await opened();
    for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
      const session = await world.session(VIEW, version);
      expect(namesIn(await session.answerTo("tools/list"))).toEqual(THREE);
    }
    expect((await world.ask("tools/list", { cursor: "x" }, VIEW)).error).toMatchObject({ code: -32602 });
  });

  test("says that call_tool only reads to a caller whose every tool only reads, and names only its servers (R8)", async () => {
    await using world = await opened(keyRules({ readOnly: true }));
    const { result } = await world.ask("tools/list", {}, VIEW);
    const last = (result?.tools as { annotations: object; description: string }[] | undefined)?.at(-1);
    expect(last?.annotations).toMatchObject({ readOnlyHint: true });
    expect(last?.annotations).not.toHaveProperty("destructiveHint");
    expect(last?.description).toContain("Servers: box (1 tool).");
    expect(foundNames(await use(world, "search_tools", { query: "look invoice" }))).toEqual(["box__look"]);
    expect(comparable(await calling(world, "shelf__create_invoice", { order: "1" }))).toBe(
      comparable(await use(world, "shelf__create_invoice", { order: "1" }, {})),
    );
  });

  test("has everything else as without the view", async () => {
    await using world = await opened();
    for (const method of ["resources/list", "prompts/list", "resources/templates/list"]) {
      expect(namesIn(await world.ask(method, {}, VIEW)), method).toEqual(namesIn(await world.ask(method)));
    }
    const read = await world.ask("resources/read", { uri: "box+note://open" }, VIEW);
    expect(JSON.stringify(read.result)).toContain("open");
  });
});

describe("search_tools", () => {
  test("gives tools by their servers, with rank, score, signature, effect and the first sentence", async () => {
    await using world = await opened();
    const answer = await use(world, "search_tools", { query: "create an invoice" });
    expect(found(answer)).toEqual({
      servers: [
        {
          server: "shelf",
          tools: [
            {
              name: "shelf__create_invoice",
              rank: 1,
              score: expect.any(Number),
              effect: "write",
              signature: "shelf__create_invoice(order: string, note?: string)",
              description: "Writes an invoice for an order.",
            },
          ],
        },
      ],
      more: 0,
    });
    expect(textOf(answer)).toBe(
      "shelf:\n- shelf__create_invoice(order: string, note?: string) (write): Writes an invoice for an order.",
    );
  });

  test("says more or less with detail, and escapes what cannot be seen only in the text", async () => {
    await using world = await opened();
    const schemas = await use(world, "search_tools", { query: "invoice", detail: "schemas" });
    expect(found(schemas).servers[0]?.tools[0]).toMatchObject({
      description: expect.stringContaining("\u202e"),
      inputSchema: { required: ["order"] },
    });
    expect(textOf(schemas)).toContain("sent\\u202e later");
    const names = await use(world, "search_tools", { query: "invoice", detail: "names" });
    expect(found(names).servers[0]?.tools[0]).not.toHaveProperty("description");
    expect(textOf(names)).toBe("shelf:\n- shelf__create_invoice (write)");
  });

  test("is narrowed by server, effect and limit", async () => {
    await using world = await opened();
    const query = "look change destroy invoice all";
    expect(foundNames(await use(world, "search_tools", { query, server: "shelf" })).toSorted()).toEqual([
      "shelf__create_invoice",
      "shelf__search.all",
    ]);
    expect(foundNames(await use(world, "search_tools", { query, effect: "destructive" }))).toEqual(["box__destroy"]);
    expect(found(await use(world, "search_tools", { query, limit: 2 }))).toMatchObject({ more: 3 });
    expect(textOf(await use(world, "search_tools", { query: "zebra" }))).toContain("Servers: box, shelf.");
    expect(textOf(await use(world, "search_tools", { query, server: "shelv" }))).toContain(
      'There is no server "shelv". Servers: box, shelf.',
    );
  });

  test.each([
    [{}, "query"],
    [{ query: 1 }, "query"],
    [{ query: "x", limit: 0 }, "limit"],
    [{ query: "x", limit: 51 }, "limit"],
    [{ query: "x", detail: "all" }, "detail"],
    [{ query: "x", more: 1 }, "more"],
  ])("refuses %j with an error of the tool that says why", async (args, why) => {
    await using world = await opened();
    const { result } = await use(world, "search_tools", args);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(why) }] });
  });
});

test("arguments with very many or very long members are refused in a few words, and others still are checked", async () => {
  await using world = await opened();
  const many = Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`member${at}`, 1]));
  for (const args of [many, { query: "x", ["m".repeat(500_000)]: 1 }]) {
    const { result } = await use(world, "search_tools", args);
    expect(result?.isError).toBe(true);
    expect(JSON.stringify(result).length).toBeLessThan(2_000);
  }
  expect((await use(world, "search_tools", { query: 1 })).result?.isError).toBe(true);
});

describe("describe_tool", () => {
  test("gives the definition as the address without the view lists it, with the effect, for each form of its name", async () => {
    await using world = await opened();
    const { result } = await world.ask("tools/list");
    const listed = (result?.tools as { name: string }[] | undefined)?.find(
      ({ name }) => name === "shelf__create_invoice",
    );
    for (const name of ["shelf__create_invoice", "shelf.create_invoice", "mcp__shelf__create_invoice"]) {
      const described = (await use(world, "describe_tool", { name })).result;
      expect(described?.structuredContent, name).toEqual({ ...listed, effect: "write" });
      expect(JSON.parse(textOf({ result: described } as WireMessage))).toEqual(described?.structuredContent);
    }
    const own = await use(world, "describe_tool", { name: "shelf.create_invoice" }, { ...VIEW, server: "shelf" });
    expect(own.result?.structuredContent).toMatchObject({ name: "create_invoice" });
  });

  test("says what a wrong name may have meant, and refuses other members", async () => {
    await using world = await opened();
    const wrong = await use(world, "describe_tool", { name: "shelf__create_invoic" });
    expect(wrong.result?.isError).toBe(true);
    expect(textOf(wrong)).toContain("Did you mean shelf__create_invoice?");
    const members = await use(world, "describe_tool", { name: "box__look", path: "/" });
    expect(members.result?.isError).toBe(true);
  });
});

describe("call_tool", () => {
  test("is answered as the call of the tool at the address without the view, and so is its own name", async () => {
    await using world = await opened();
    for (const [name, args] of [
      ["shelf__create_invoice", { order: "7" }],
      ["box__look", undefined],
      ["box__nothing", {}],
      ["no__such", {}],
      ["box__look", []],
    ] as const) {
      const plain = comparable(await use(world, name, args, {}));
      expect(comparable(await calling(world, name, args)), name).toBe(plain);
      expect(comparable(await use(world, name, args)), name).toBe(plain);
    }
    expect(textOf(await calling(world, "shelf.search.all", {}))).toBe("all");
    expect(textOf(await calling(world, "search.all", {}, { ...VIEW, server: "shelf" }))).toBe("all");
  });

  test.each([...THREE])("does not call %s", async (name) => {
    await using world = await opened();
    expect((await calling(world, name, {})).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`There is no tool "${name}"`),
    });
  });

  test("does not tell in any form of a name which servers and tools there are that the caller may not use (R8)", async () => {
    await using world = await opened(keyRules({ allow: ["box"], deny: ["box.destroy"] }));
    const own: Asking = { ...VIEW, server: "box" };
    for (const [asking, hidden, none] of [
      [VIEW, "shelf.search.all", "shell.search.all"],
      [VIEW, "mcp__shelf__search.all", "mcp__shell__search.all"],
      [VIEW, "box.destroy", "box.destrox"],
      [own, "box.destroy", "box.destrox"],
      [own, "mcp__box__destroy", "mcp__box__destrox"],
    ] as const) {
      for (const tool of ["call_tool", "describe_tool"]) {
        const answers = [hidden, none].map(async (name) =>
          comparable(await use(world, tool, { name }, asking)).replaceAll(name, "NAME"),
        );
        const [ofHidden, ofNone] = await Promise.all(answers);
        expect(ofHidden, `${tool} ${hidden}`).toBe(ofNone);
        expect(ofHidden).toContain("NAME");
      }
    }
  });

  test("finds no tools with the names of its own three: those cannot be called through it", async () => {
    const shelf = new ScriptedServer({
      era: "modern",
      tools: Object.fromEntries([...THREE, "open"].map((name) => [name, () => `own ${name}`])),
    });
    await using world = await AccessWorld.open({ shelf });
    const query = "search describe call open tool tools";
    const own = { ...VIEW, server: "shelf" } as const;
    expect(foundNames(await use(world, "search_tools", { query }, own))).toEqual(["open"]);
    expect((await use(world, "describe_tool", { name: "call_tool" }, own)).result?.isError).toBe(true);
    const found = foundNames(await use(world, "search_tools", { query }));
    expect(found.toSorted()).toEqual([...THREE, "open"].map((name) => `shelf__${name}`).toSorted());
    for (const name of THREE) expect(textOf(await calling(world, `shelf__${name}`))).toBe(`own ${name}`);
  });

  test.each([[undefined], [{}], [{ name: 1 }], [{ name: "box__look", extra: 1 }]])(
    "of %j says what is wrong",
    async (args) => {
      await using world = await opened();
      expect((await use(world, "call_tool", args)).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("Invalid arguments for call_tool: "),
      });
    },
  );

  test("asks its caller, carries on with the answer, and starts tasks that are known only in the view", async () => {
    await using world = await opened();
    const first = await calling(world, "box__asking", {});
    expect(first.result?.resultType).toBe("input_required");
    const [id = ""] = Object.keys(first.result?.["inputRequests"] as object);
    const params = {
      name: "call_tool",
      arguments: { name: "box__asking", arguments: {} },
      requestState: first.result?.["requestState"],
      inputResponses: { [id]: { action: "accept", content: {} } },
    };
    expect(textOf(await world.ask("tools/call", params, VIEW))).toBe("asked");
    const { result } = await calling(world, "box__working", {});
    const taskId = result?.["taskId"];
    expect((await world.ask("tasks/get", { taskId }, VIEW)).result).toMatchObject({ status: "completed" });
    expect((await world.ask("tasks/get", { taskId })).error?.message).toContain("Unknown task");
  });

  test("calls a tool with the name, the description and the fixed arguments of a set; its old name is unknown", async () => {
    const tools = {
      "shelf.create_invoice": { name: "bill", description: "Bills Kim.", arguments: { order: "KIM" } },
    };
    await using world = await opened({}, { kim: { allow: ["shelf"], tools } });
    const asking: Asking = { ...VIEW, set: "kim" };
    expect(foundNames(await use(world, "search_tools", { query: "bills" }, asking))).toEqual(["bill"]);
    expect(foundNames(await use(world, "search_tools", { query: "create invoice" }, asking))).toEqual([]);
    const described = await use(world, "describe_tool", { name: "bill" }, asking);
    expect(JSON.stringify(described.result)).not.toContain('"order"');
    expect(textOf(await calling(world, "bill", {}, asking))).toBe("invoice KIM");
    expect((await calling(world, "bill", { order: "EVE" }, asking)).error?.message).toContain("Unknown argument");
    for (const old of ["shelf__create_invoice", "shelf.create_invoice", "mcp__shelf__create_invoice"]) {
      expect((await calling(world, old, {}, asking)).error?.message, old).toContain("There is no tool");
    }
  });
});

test("a call is one record, of the tool that was called; words of a search are not recorded (B4)", async () => {
  const records: [AuditRecord, { params: object }][] = [];
  await using world = await opened({ audit: (record, content) => void records.push([record, content]) });
  await calling(world, "shelf.create_invoice", { order: "7" });
  await use(world, "search_tools", { query: "private words" });
  await use(world, "describe_tool", { name: "box__look" });
  expect(
    records.map(([{ method, server, target, via, through }]) => ({ method, server, target, via, through })),
  ).toEqual([
    { method: "tools/call", server: "shelf", target: "shelf__create_invoice", via: "call_tool", through: undefined },
    { method: "tools/call", server: "", target: "search_tools", via: undefined, through: undefined },
    { method: "tools/call", server: "", target: "describe_tool", via: undefined, through: undefined },
  ]);
  expect(records[0]?.[1].params).toMatchObject({ name: "shelf__create_invoice", arguments: { order: "7" } });
  expect(JSON.stringify(records)).not.toContain("private words");
});

test("rules of a gateway in front hold for each form in which the view takes the name of a tool (R8)", async () => {
  const shelf = new ScriptedServer({ era: "modern", tools: { open: () => "open", secret: () => "secret" } });
  await using world = await AccessWorld.open({ shelf });
  await using short = await AccessWorld.open({ shelf }, { entries: { shelf: { api: "/shelf", prefix: "sh" } } });
  for (const [back, path, listed] of [
    [world, "search/mcp", "shelf__"],
    [world, "servers/shelf/search/mcp", ""],
    [short, "search/mcp", "sh__"],
  ] as const) {
    const url = back.url().replace(/mcp$/, path);
    const rules = keyRules({ deny: [`back.${listed}secret`] });
    await using front = await AccessWorld.open({}, { ...rules, entries: { back: { url } } });
    for (const form of ["", "shelf.", "shelf__", "mcp__shelf__", "mcp__shelf.", "SHELF.", "SHELF__", "sh.", "sh__"]) {
      for (const tool of ["back__call_tool", "back__describe_tool"]) {
        const answer = await use(front, tool, { name: `${form}secret` }, {});
        const isRefused = answer.error !== undefined || answer.result?.isError === true;
        expect(isRefused, `${path} ${tool} ${form}secret`).toBe(true);
      }
    }
    expect(textOf(await use(front, "back__call_tool", { name: `${listed}open` }, {}))).toBe("open");
    const other = listed === "" ? "shelf.open" : `${listed.slice(0, -2)}.open`;
    expect(textOf(await use(front, "back__call_tool", { name: other }, {}))).toBe("open");
  }
});

test("a session belongs to its address: that of the plain endpoint is unknown in the view", async () => {
  await using world = await opened();
  const session = await world.session();
  const response = await fetch(world.url().replace(/mcp$/, "search/mcp"), {
    method: "POST",
    headers: { ...session.headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(response.status).toBe(404);
});

test("the instructions of the view say how tools are found", async () => {
  await using world = await opened();
  const { result } = await world.ask("server/discover", {}, VIEW);
  expect(result?.instructions).toMatch(
    /^Most tools are not listed here: find them with search_tools, .* This gateway/s,
  );
});

test("addresses of servers and sets that do not exist are unknown, and /search/sse is none", async () => {
  await using world = await opened();
  for (const path of ["/servers/no/search/mcp", "/sets/no/search/mcp", "/search/sse", "/search/tools"]) {
    expect((await world.get(path)).status, path).toBe(404);
  }
});

describe("tools of an API that only searching finds", () => {
  let upstream: DeskUpstream;
  let api: DeskApi;
  beforeAll(async () => {
    upstream = await DeskUpstream.open();
    api = DeskApi.open(
      [
        { name: "look", effect: "read", isSearched: false },
        { name: "orders", effect: "read", isSearched: true },
        { name: "cancel", effect: "destructive", isSearched: true },
      ],
      upstream.url,
    );
  });
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  test("are found, described and called like all others, and its own three tools are left out", async () => {
    await using world = await AccessWorld.open({ desk: api });
    const all = await use(world, "search_tools", { query: "desk does tools", limit: 50 });
    expect(foundNames(all).toSorted()).toEqual(["desk__cancel", "desk__look", "desk__orders"]);
    const described = await use(world, "describe_tool", { name: "desk__orders" });
    expect(described.result?.structuredContent).toMatchObject({
      name: "desk__orders",
      effect: "read",
      inputSchema: { properties: { account: { type: "string" } } },
    });
    expect((await calling(world, "desk__orders", {})).result?.isError).toBeUndefined();
    await using narrow = await AccessWorld.open({ desk: api }, keyRules({ readOnly: true }));
    expect(foundNames(await use(narrow, "search_tools", { query: "desk does tools" })).toSorted()).toEqual([
      "desk__look",
      "desk__orders",
    ]);
    expect((await calling(narrow, "desk__cancel", {})).error?.message).toContain("There is no tool");
  });
});
