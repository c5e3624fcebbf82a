import { describe, expect, test } from "vitest";
import type { AuditRecord } from "../../../src/gateway/index.ts";
import type { Decide } from "../../../src/gateway/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { OpenStream, modern, send } from "../../fixtures/gateway/wire.ts";
import { cabinet, calledTools } from "./access-servers.ts";
import { AccessWorld, namesIn, type Asking } from "./access-world.ts";
import { send as post } from "../legacy/legacy-wire.ts";

const ALLOWED = { kind: "allowed" } as const;
const DENIED = { kind: "denied", reason: "not for you" } as const;

/** A server that the guest must not know of, named "hid", beside one that it may use; there is none named "non". */
async function open(hid: ScriptedServer, rule: "policy" | "decide", audit?: (record: AuditRecord) => void) {
  const decide: Decide = ({ id }, _operation, { server }) => (server === "hid" && id !== "boss" ? DENIED : ALLOWED);
  const rules = rule === "policy" ? { policy: { visibleTo: { hid: ["boss"] } } } : { decide };
  const entries = { hid: { auto_start: false, name: "The hidden one" } };
  return AccessWorld.open({ hid, box: cabinet() }, { ...rules, entries, ...(audit ? { audit } : {}) });
}

/** The same text about a server that does not exist. */
const renamed = (text: string) => text.replaceAll("non", "hid");

describe.each(["policy", "decide"] as const)("a server hidden by %s", (rule) => {
  const argument = { name: "x", value: "" };
  const requests: [string, (id: string) => Params][] = [
    ["tools/call", (id) => ({ name: `${id}__look`, arguments: {} })],
    ["tools/call", (id) => ({ name: `${id}__placed`, arguments: { region: "eu" } })],
    ["prompts/get", (id) => ({ name: `${id}__greet` })],
    ["resources/read", (id) => ({ uri: `${id}+note://open` })],
    ["completion/complete", (id) => ({ ref: { type: "ref/prompt", name: `${id}__greet` }, argument })],
    ["completion/complete", (id) => ({ ref: { type: "ref/resource", uri: `${id}+note://{name}` }, argument })],
    ["server/discover", () => ({})],
    ["tools/list", () => ({})],
    ["prompts/list", () => ({})],
    ["resources/list", () => ({})],
    ["resources/templates/list", () => ({})],
    ["acme/run", () => ({})],
  ];

  test("a hidden server is answered byte for byte like one that does not exist, and is not started", async () => {
    const hid = cabinet();
    await using world = await open(hid, rule);
    for (const [method, params] of requests) {
      const [hidden, missing] = await Promise.all(["hid", "non"].map((id) => world.exactly(method, params(id))));
      expect(JSON.stringify(hidden)).toBe(renamed(JSON.stringify(missing)));
      const own = (server: string): Asking => ({ server });
      const [at, nowhere] = await Promise.all(["hid", "non"].map((id) => world.exactly(method, params(id), own(id))));
      expect(JSON.stringify(at)).toBe(renamed(JSON.stringify(nowhere)));
      expect(at).toMatchObject({ status: 404 });
    }
    const everything = JSON.stringify(await world.exactly("server/discover"));
    expect(everything).not.toContain("hid");
    expect(everything).toContain("box");
    // Nothing of this was asked of the server, nor was it started.
    expect(hid.received).toEqual([]);
    expect((await world.ask("tools/list", {}, { server: "hid", user: "boss" })).result).toBeDefined();
  });

  test("a hidden server is to older clients like one that does not exist, by every method and path", async () => {
    const hid = cabinet();
    await using world = await open(hid, rule);
    const session = await world.session();
    expect(session.initialized.result?.instructions).not.toContain("hid");
    for (const [method, params] of [
      ...requests,
      ["resources/subscribe", (id: string) => ({ uri: `${id}+note://open` })] as const,
    ]) {
      const { error: hidden, result: listed } = await session.answerTo(method, params("hid"));
      const { error: missing, result } = await session.answerTo(method, params("non"));
      expect([method, JSON.stringify(hidden ?? listed)]).toEqual([method, renamed(JSON.stringify(missing ?? result))]);
    }
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const answers = await Promise.all(
      ["hid", "non"].map(async (id) => {
        const response = await post(world.url(id), initialize);
        return `${response.status} ${await response.text()}`;
      }),
    );
    expect(answers[0]).toBe(renamed(answers[1] ?? ""));
    expect(hid.received).toEqual([]);
  });

  test("a hidden server has no manifest and no metrics, and calls to it are counted like those that lead nowhere", async () => {
    const hid = cabinet();
    const records: AuditRecord[] = [];
    await using world = await open(hid, rule, (record) => void records.push(record));
    const hidden = await world.get("/servers/hid/tools");
    const missing = await world.get("/servers/non/tools");
    expect(JSON.stringify(hidden)).toBe(renamed(JSON.stringify(missing)));
    await world.ask("tools/call", { name: "hid__look", arguments: {} });
    await world.ask("tools/call", { name: "non__look", arguments: {} });
    // Both count as calls that concern no server.
    const counted = (await world.get("/metrics")).text;
    expect(counted).toContain(`nexus_calls_total{server="",method="tools/call",outcome="error"} 2`);
    await world.ask("tools/call", { name: "hid__look", arguments: {} }, { user: "boss" });
    const forGuest = (await world.get("/metrics")).text;
    expect(forGuest).toContain(`server="box"`);
    expect(forGuest).not.toContain(`"hid"`);
    const forBoss = (await world.get("/metrics", "boss")).text;
    expect(forBoss).toContain(`nexus_server_state{server="hid",state="ready"} 1`);
    expect(forBoss).toContain(`nexus_calls_total{server="hid",method="tools/call",outcome="ok"} 1`);
    expect(records.map(({ principal, target }) => [principal.id, target])).toEqual([
      ["guest", "hid"],
      ["guest", "non"],
      ["guest", "hid__look"],
      ["guest", "non__look"],
      ["boss", "hid__look"],
    ]);
  });

  test("a list does not say that a hidden server is unavailable, and nothing tells that its lists changed", async () => {
    const hid = cabinet();
    await using world = await open(hid, rule);
    hid.on("tools/list", () => Promise.reject(new Error("out of order")));
    const ofBoss = await world.ask("tools/list", {}, { user: "boss" });
    expect(JSON.stringify(ofBoss.result?._meta)).toContain("hid");
    const ofGuest = await world.ask("tools/list");
    expect(JSON.stringify(ofGuest.result?._meta)).not.toContain("hid");
    const listen = { notifications: { promptsListChanged: true, resourceSubscriptions: ["hid+note://open"] } };
    const streams = ["boss", "guest"].map((user) => {
      return new OpenStream(world.url(), modern("subscriptions/listen", listen, { headers: { "x-user": user } }));
    });
    const [boss, guest] = streams;
    await expect.poll(() => [boss?.events.length, guest?.events.length]).toEqual([1, 1]);
    expect(guest?.events[0]?.params?.notifications).toEqual({ promptsListChanged: true });
    hid.on("prompts/list", () => ({ prompts: [] }));
    hid.notify("notifications/prompts/list_changed");
    await expect.poll(() => boss?.events.length).toBe(2);
    await world.ask("tools/list");
    expect(guest?.events.length).toBe(1);
    for (const stream of streams) stream.leave();
  });

  test("nothing of a hidden server is suggested for a name that is nearly right", async () => {
    await using world = await open(cabinet(), rule);
    await world.ask("tools/list", {}, { user: "boss" });
    const near = await world.ask("tools/call", { name: "hidd__look", arguments: {} });
    expect(near.error?.message).toBe(`There is no tool "hidd__look"`);
    const known = await world.ask("tools/call", { name: "boxx__look", arguments: {} });
    expect(known.error?.message).toContain(`Did you mean "box__look"?`);
  });
});

describe("things that are hidden", () => {
  const HIDDEN = ["destroy", "placed", "curse", "note://secret", "acme/run"];
  const decide: Decide = (_principal, _operation, { name }) => (HIDDEN.includes(name) ? DENIED : ALLOWED);
  const cases: [string, (name: string) => Params, string, string][] = [
    ["tools/call", (name) => ({ name, arguments: {} }), "destroy", "missing"],
    ["tools/call", (name) => ({ name, arguments: { region: "eu" } }), "placed", "nobody"],
    ["prompts/get", (name) => ({ name }), "curse", "bless"],
    ["resources/read", (uri) => ({ uri }), "note://secret", "note://absent"],
  ];
  const full = (name: string) => (name.includes("://") ? `box+${name}` : `box__${name}`);

  test.each(cases)(
    "%s of a hidden thing is answered like that of one that does not exist, everywhere",
    async (method, params, hidden, missing) => {
      const box = cabinet();
      await using world = await AccessWorld.open({ box }, { decide });
      const swap = (text: string) => text.replaceAll(missing, hidden);
      // Headers are only compared for what the caller may see.
      const headers = { "mcp-param-region": "us" };
      const ask = async (server: string | undefined, name: string) => {
        const given = params(server === undefined ? full(name) : name);
        const { text, ...rest } = (await world.exactly(method, given, { server, headers })) as { text: string };
        const session = await world.session({ server });
        const { error } = await session.answerTo(method, given);
        return { ...rest, text, error };
      };
      for (const server of [undefined, "box"]) {
        const one = await ask(server, hidden);
        expect(one).toEqual(JSON.parse(swap(JSON.stringify(await ask(server, missing)))));
        expect(one.error?.message).toBe(
          `There is no ${method.split("/")[0]?.slice(0, -1)} "${server === undefined ? full(hidden) : hidden}"`,
        );
      }
      expect(calledTools(box)).toEqual([]);
    },
  );

  test("a hidden method of an extension is answered like one that does not exist", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { decide });
    const hidden = await world.exactly("acme/run", {}, { server: "box" });
    const missing = await world.exactly("acme/non", {}, { server: "box" });
    expect(JSON.stringify(hidden)).toBe(JSON.stringify(missing).replaceAll("acme/non", "acme/run"));
    expect((await world.ask("acme/status", {}, { server: "box" })).result).toMatchObject({ fine: true });
  });

  test("a name that is nearly that of a hidden tool gets no suggestion", async () => {
    await using world = await AccessWorld.open({ box: cabinet() }, { decide });
    await world.ask("tools/list");
    const { error } = await world.ask("tools/call", { name: "box__destroi", arguments: {} });
    expect(error?.message).toBe(`There is no tool "box__destroi"`);
    const seen = await world.ask("tools/call", { name: "box__lok", arguments: {} });
    expect(seen.error?.message).toContain(`Did you mean "box__look"?`);
  });

  test("a resource that one principal may read is private, where others may not", async () => {
    const box = cabinet({
      resources: { "note://open": (uri) => ({ contents: [{ uri, text: "x" }], ttlMs: 1000, cacheScope: "public" }) },
    });
    await using open = await AccessWorld.open({ box });
    const read = { uri: "box+note://open" };
    expect((await open.ask("resources/read", read)).result).toMatchObject({ cacheScope: "public" });
    await using ruled = await AccessWorld.open({ box }, { decide });
    expect((await ruled.ask("resources/read", read)).result).toMatchObject({ cacheScope: "private" });
  });
});

test("the host's allow list hides resources, prompts and methods of what it names tools of alone", async () => {
  const box = cabinet();
  await using world = await AccessWorld.open(
    { box, shelf: cabinet() },
    { policy: { allow: ["box.l*", "shelf/prompts"] } },
  );
  expect(namesIn(await world.ask("tools/list"))).toEqual(["box__look"]);
  expect(namesIn(await world.ask("prompts/list"))).toEqual(["shelf__greet", "shelf__curse"]);
  expect(namesIn(await world.ask("resources/list"))).toEqual([]);
  expect(namesIn(await world.ask("resources/templates/list"))).toEqual([]);
  expect((await world.ask("resources/read", { uri: "box+note://open" })).error).toBeDefined();
  // No list shows it, so it is decided as the server's resources are.
  expect((await world.ask("resources/read", { uri: "note://elsewhere" }, { server: "box" })).error).toBeDefined();
  expect((await world.ask("prompts/get", { name: "greet" }, { server: "box" })).error).toBeDefined();
  expect((await world.ask("prompts/get", { name: "greet" }, { server: "shelf" })).result).toBeDefined();
  expect(box.methods).not.toContain("resources/read");
  const manifest = await send(new URL("/servers/box/tools", world.gateway.url).href, { method: "GET" });
  expect(manifest.text).toContain(`"look"`);
  expect(manifest.text).not.toContain("destroy");
});
