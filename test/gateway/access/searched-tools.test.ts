import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditRecord, Decide, SetDefinition } from "../../../src/gateway/index.ts";
import { MemorySets } from "../../../src/gateway/sets/set-source.ts";
import { Grants } from "../../../src/team/grants.ts";
import type { ConsentRequest } from "../../../src/index.ts";
import type { KeyGrants } from "../../../src/store/keep/api-keys.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { cabinet, calledTools, overHttp } from "./access-servers.ts";
import { AccessWorld, namesIn, type AccessWorldOptions, type Asking } from "./access-world.ts";
import { DeskApi, DeskUpstream, type DeskTool } from "./desk-api.ts";

const TOOLS: DeskTool[] = [
  { name: "look", effect: "read", isSearched: false },
  { name: "orders", effect: "read", isSearched: true },
  { name: "bills", effect: "read", isSearched: true },
  { name: "pay", effect: "write", isSearched: true },
  { name: "cancel", effect: "destructive", isSearched: true },
];
const WAYS = ["search_tools", "describe_tool", "call_tool"];

let upstream: DeskUpstream;
let api: DeskApi;
beforeAll(async () => {
  upstream = await DeskUpstream.open();
  api = DeskApi.open(TOOLS, upstream.url);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => void upstream.reached.splice(0));

function keyRules(grants: Partial<KeyGrants>): { decide: Decide } {
  const all = new Grants({ allow: ["*"], deny: [], readOnly: false, ...grants });
  return { decide: (_principal, _operation, target) => all.decide(target) };
}

function opened(options: AccessWorldOptions = {}, sets?: Record<string, SetDefinition>): Promise<AccessWorld> {
  return AccessWorld.open({ desk: api }, { ...options, ...(sets ? { sets: new MemorySets(sets) } : {}) });
}

function calling(world: AccessWorld, name: string, args: unknown, asking: Asking = {}, way = "desk__call_tool") {
  return world.ask("tools/call", { name: way, arguments: { name, arguments: args } }, asking);
}

async function foundBy(world: AccessWorld, asking: Asking = {}, way = "desk__search_tools") {
  const answer = await world.ask("tools/call", { name: way, arguments: { query: "does orders", limit: 50 } }, asking);
  type Found = { servers: { tools: { name: string; call: string; description: string }[] }[] };
  const { servers } = (answer.result?.structuredContent ?? { servers: [] }) as Found;
  return servers.flatMap(({ tools }) => tools);
}

function textOf({ result }: WireMessage): string {
  return ((result?.content ?? []) as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}

const bodies = () => upstream.reached.map(({ path, body }) => [path.slice(1), body]);

describe("a set with fixed arguments, names and descriptions (R8)", () => {
  const desk: SetDefinition = {
    allow: ["desk"],
    tools: {
      "desk.orders": { arguments: { account: "KIM" }, name: "my_orders", description: "Orders of Kim" },
      "desk.bills": { arguments: { account: "KIM" } },
    },
  };

  test("holds behind call_tool: another account never reaches upstream, and the fixed one always does", async () => {
    await using world = await opened({}, { desk });
    const set = { set: "desk" };
    for (const name of ["my_orders", "desk__bills"]) {
      const other = await calling(world, name, { account: "EVE" }, set);
      expect(other.error?.message).toBe(`Unknown argument "account" of tool "${name}"`);
      expect((await calling(world, name, { note: "x" }, set)).result?.isError).toBeUndefined();
    }
    expect((await calling(world, "my_orders", undefined, set)).result?.isError).toBeUndefined();
    expect(bodies()).toEqual([
      ["orders", { account: "KIM", note: "x" }],
      ["bills", { account: "KIM", note: "x" }],
      ["orders", { account: "KIM" }],
    ]);
  });

  test("gives call_tool its names, and the own name of a renamed tool is unknown", async () => {
    await using world = await opened({}, { desk });
    for (const name of [
      "orders",
      "desk__orders",
      "desk__nothing",
      "desk__call_tool",
      "call_tool",
      "desk__search_tools",
    ]) {
      const { error } = await calling(world, name, {}, { set: "desk" });
      expect(error?.message).toContain(`There is no tool "${name}"`);
    }
    expect(upstream.reached).toEqual([]);
  });

  test("shows search_tools and describe_tool as the set shows its tools: what they name can be called", async () => {
    await using world = await opened({}, { desk });
    const set = { set: "desk" };
    const found = await foundBy(world, set);
    expect(found.map(({ name, call }) => `${name} ${call}`).toSorted()).toEqual([
      "desk__bills desk__call_tool",
      "desk__cancel desk__call_tool",
      "desk__look desk__look",
      "desk__pay desk__call_tool",
      "my_orders desk__call_tool",
    ]);
    expect(found.find(({ name }) => name === "my_orders")?.description).toBe("Orders of Kim");
    for (const { name } of found) {
      const described = textOf(
        await world.ask("tools/call", { name: "desk__describe_tool", arguments: { name } }, set),
      );
      const isFixed = name === "my_orders" || name === "desk__bills";
      expect([name, described.includes("account")]).toEqual([name, !isFixed]);
      expect(described).toContain(`"name":"${name}"`);
      expect((await calling(world, name, {}, set)).result).toBeDefined();
    }
    expect(
      JSON.stringify(
        await world.ask("tools/call", { name: "desk__describe_tool", arguments: { name: "orders" } }, set),
      ),
    ).toContain("There is no tool");
  });

  test("may fix what call_tool calls, and give the searching tools other names", async () => {
    const tools = {
      "desk.call_tool": { name: "run", arguments: { name: "desk__orders" } },
      "desk.search_tools": { name: "find" },
    };
    await using world = await opened({}, { one: { allow: ["desk"], tools } });
    const set = { set: "one" };
    expect(namesIn(await world.ask("tools/list", {}, set))).toEqual([
      "desk__look",
      "desk__describe_tool",
      "find",
      "run",
    ]);
    expect((await foundBy(world, set, "find"))[1]?.call).toBe("run");
    const run = await world.ask("tools/call", { name: "run", arguments: { arguments: { note: "n" } } }, set);
    expect(run.result?.isError).toBeUndefined();
    expect((await calling(world, "desk__pay", {}, set, "run")).error?.message).toContain(`Unknown argument "name"`);
    expect(bodies()).toEqual([["orders", { note: "n" }]]);
  });

  test("contains what its patterns name, and only what leads there", async () => {
    await using world = await opened(
      {},
      { reads: { allow: ["desk"], readOnly: true }, one: { allow: ["desk.orders"] } },
    );
    const named = async (set: string) => (await foundBy(world, { set })).map(({ name }) => name).toSorted();
    expect(await named("reads")).toEqual(["desk__bills", "desk__look", "desk__orders"]);
    expect(await named("one")).toEqual(["desk__orders"]);
    expect(namesIn(await world.ask("tools/list", {}, { set: "one" })).toSorted()).toEqual(
      WAYS.map((name) => `desk__${name}`).toSorted(),
    );
    expect((await calling(world, "desk__pay", {}, { set: "reads" })).error?.message).toContain("There is no tool");
    expect((await calling(world, "desk__look", {}, { set: "one" })).error?.message).toContain("There is no tool");
  });
});

describe("keys", () => {
  test("a key that may only read reaches all reads of an API, and nothing else (R8)", async () => {
    await using world = await opened(keyRules({ readOnly: true }));
    const { result } = await world.ask("tools/list");
    const listed = result?.tools as { name: string; annotations: object }[];
    expect(listed.map(({ name }) => name)).toEqual(
      ["look", "describe_tool", "search_tools", "call_tool"].map((name) => `desk__${name}`),
    );
    expect(listed.at(-1)?.annotations).toMatchObject({ readOnlyHint: true });
    expect((await foundBy(world)).map(({ name }) => name).toSorted()).toEqual([
      "desk__bills",
      "desk__look",
      "desk__orders",
    ]);
    for (const [name, isAllowed] of [
      ["orders", true],
      ["bills", true],
      ["pay", false],
      ["cancel", false],
    ] as const) {
      const answers = [
        await calling(world, `desk__${name}`, {}),
        await world.ask("tools/call", { name: `desk__${name}`, arguments: {} }),
        await calling(world, name, {}, { server: "desk" }, "call_tool"),
      ];
      expect([name, ...answers.map(({ error }) => error === undefined)]).toEqual([
        name,
        isAllowed,
        isAllowed,
        isAllowed,
      ]);
    }
    expect(new Set(bodies().map(([path]) => path))).toEqual(new Set(["orders", "bills"]));
  });

  test("a grant of one tool is enough: what leads to it is there, and what is hidden is unknown", async () => {
    await using world = await opened(keyRules({ allow: ["desk.orders"] }));
    expect(namesIn(await world.ask("tools/list")).toSorted()).toEqual(WAYS.map((name) => `desk__${name}`).toSorted());
    expect((await calling(world, "desk__orders", {})).error).toBeUndefined();
    const describing = (name: string) => world.ask("tools/call", { name: "desk__describe_tool", arguments: { name } });
    for (const hidden of ["pay", "look"]) {
      for (const ask of [(name: string) => calling(world, name, {}), describing]) {
        const answers = await Promise.all([ask(`desk__${hidden}`), ask("desk__not_there")]);
        const [denied, unknown] = answers.map(({ error }) =>
          JSON.stringify(error).replace(/desk__(?:pay|look|not_there)/g, "X"),
        );
        expect(denied?.replace(/"correlationId":"[^"]*"/, "")).toBe(unknown?.replace(/"correlationId":"[^"]*"/, ""));
      }
    }
  });

  test("whoever is denied call_tool by name has nothing that it leads to, however it is called", async () => {
    await using world = await opened(keyRules({ deny: ["desk.call_tool"] }));
    expect(namesIn(await world.ask("tools/list"))).toEqual(["desk__look"]);
    for (const answer of [
      await calling(world, "desk__orders", {}),
      await calling(world, "desk__look", {}),
      await world.ask("tools/call", { name: "desk__orders", arguments: {} }),
    ])
      expect(answer.error?.message).toContain("There is no tool");
    expect(upstream.reached).toEqual([]);
  });

  test("a key without anything that is searched for has no searching tools", async () => {
    await using world = await opened(keyRules({ allow: ["desk.look", "desk.call_tool"] }));
    expect(namesIn(await world.ask("tools/list"))).toEqual(["desk__look"]);
  });
});

test("rules of the host and consent are about the tool that is called, with its own arguments (R8)", async () => {
  const asked: unknown[] = [];
  const consent = ({ tool, arguments: args, annotations }: ConsentRequest) => {
    asked.push([tool, args, annotations?.destructiveHint]);
    return tool === "pay";
  };
  await using world = await opened({ policy: { deny: ["desk.bills"], consent } });
  const codes = [];
  for (const name of ["orders", "bills", "pay", "cancel"]) {
    codes.push((await calling(world, `desk__${name}`, { note: name })).error === undefined);
  }
  expect(codes).toEqual([true, false, true, false]);
  expect(asked).toEqual([
    ["pay", { note: "pay" }, false],
    ["cancel", { note: "cancel" }, true],
  ]);
});

test("the record, the metrics and the log of a call name the tool that was called (B4)", async () => {
  const records: [AuditRecord, unknown][] = [];
  await using world = await opened(
    { audit: (record, { params }) => void records.push([record, params]) },
    {
      desk: { allow: ["desk"], tools: { "desk.orders": { name: "mine", arguments: { account: "KIM" } } } },
    },
  );
  await world.ask("tools/call", { name: "desk__orders", arguments: { note: "n" } });
  await calling(world, "desk__orders", { note: "n" });
  await calling(world, "orders", { note: "n" }, { server: "desk" }, "call_tool");
  await calling(world, "mine", { note: "n" }, { set: "desk" });
  await calling(world, "mine", { account: "EVE" }, { set: "desk" });
  const [direct] = records;
  expect(direct?.[0].definitionHash).toMatch(/^[0-9a-f]{64}$/);
  const shown = records.map(([{ target, server, through, set, outcome, definitionHash }, params]) => {
    expect(definitionHash).toBe(direct?.[0].definitionHash);
    return [target, server, through, set, outcome, (params as { arguments: unknown }).arguments];
  });
  const args = { note: "n" };
  expect(shown).toEqual([
    ["desk__orders", "desk", undefined, undefined, "ok", args],
    ["desk__orders", "desk", "call_tool", undefined, "ok", args],
    ["orders", "desk", "call_tool", undefined, "ok", args],
    ["desk__orders", "desk", "call_tool", "desk", "ok", args],
    ["desk__orders", "desk", "call_tool", "desk", "error", { account: "EVE" }],
  ]);
  const metrics = (await world.get("/metrics")).text;
  expect(metrics).toMatch(/nexus_tool_calls_total\{[^}]*tool="orders"[^}]*\} [45]/);
  expect(metrics).not.toContain(`tool="call_tool"`);
});

test.each<[unknown, RegExp]>([
  [undefined, /call_tool needs the name of a tool/],
  [{}, /call_tool needs the name of a tool/],
  [{ name: 7 }, /needs the name of a tool as text, not 7/],
  [{ name: ["desk__orders"] }, /needs the name of a tool as text/],
  [[], /"arguments" must be an object/],
  [{ name: "desk__orders", arguments: "EVE" }, /"arguments" must be an object/],
  [{ name: "desk__orders", arguments: null }, /"arguments" must be an object/],
  [{ name: "" }, /There is no tool ""/],
])("arguments of call_tool that are odd are refused in words, and nothing is sent (%#)", async (args, words) => {
  const sets = {
    open: { allow: ["desk"] },
    fixing: { allow: ["desk"], tools: { "desk.orders": { arguments: { account: "KIM" } } } },
  };
  await using world = await opened({}, sets);
  for (const asking of [{}, { set: "open" }, { set: "fixing" }]) {
    const answer = await world.ask(
      "tools/call",
      { name: "desk__call_tool", ...(args === undefined ? {} : { arguments: args }) },
      asking,
    );
    expect(answer.error?.message ?? textOf(answer)).toMatch(words);
  }
  expect(upstream.reached).toEqual([]);
});

test("what a caller writes into _meta shows it nothing", async () => {
  await using world = await opened(keyRules({ allow: ["desk.orders"] }));
  const _meta = { "dev.nexus/searched": true, "dev.nexus/shown": { pay: { name: "pay", call: "pay" } } };
  for (const asking of [{}, { server: "desk" }]) {
    const listed = await world.ask("tools/list", { _meta }, asking);
    expect(
      namesIn(listed)
        .map((name) => name.replace("desk__", ""))
        .toSorted(),
    ).toEqual(WAYS.toSorted());
    const way = asking.server ? "search_tools" : "desk__search_tools";
    const found = await world.ask("tools/call", { name: way, arguments: { query: "does" }, _meta }, asking);
    expect(JSON.stringify(found)).not.toContain("pay");
  }
});

describe("servers of others", () => {
  test("a tool that is called call_tool is a tool like any other, whatever it says of itself", async () => {
    const plain = cabinet({
      era: "legacy",
      tools: { look: () => "looked", call_tool: ({ name }) => `got ${String(name)}` },
    });
    await using http = await overHttp(plain);
    await using world = await AccessWorld.open(
      {},
      { entries: { box: { url: http.url } }, policy: { deny: ["box.destroy"] } },
    );
    const answer = await calling(world, "destroy", {}, {}, "box__call_tool");
    expect(textOf(answer)).toBe("got destroy");
    expect(calledTools(plain)).toEqual(["call_tool"]);
  });

  test("one that says that it calls others gains nothing, and does not reach what a set shows in another way", async () => {
    const calls = { "dev.nexus/calls": "name" };
    const box = cabinet({
      era: "legacy",
      tools: { look: () => "looked", orders: () => "orders", call_tool: { _meta: calls, run: () => "called" } },
    });
    await using http = await overHttp(box);
    const tools = { "box.orders": { arguments: { account: "KIM" } } };
    await using world = await AccessWorld.open(
      {},
      {
        entries: { box: { url: http.url } },
        sets: new MemorySets({ desk: { allow: ["box"], tools }, read: { allow: ["box"], readOnly: true } }),
      },
    );
    const refused = await calling(world, "orders", { account: "EVE" }, { set: "desk" }, "box__call_tool");
    expect(refused.error?.message).toContain("There is no tool");
    expect((await calling(world, "look", {}, { set: "desk" }, "box__call_tool")).error).toBeUndefined();
    // It is not annotated as read-only.
    expect((await calling(world, "look", {}, { set: "read" }, "box__call_tool")).error).toBeDefined();
    expect(calledTools(box)).toEqual(["call_tool"]);
  });
});
