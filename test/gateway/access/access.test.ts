import { describe, expect, test } from "vitest";
import type { Decide } from "../../../src/gateway/index.ts";
import type { ConsentRequest } from "../../../src/index.ts";
import { OpenStream, modern } from "../../fixtures/gateway/wire.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { cabinet, calledTools, overHttp } from "./access-servers.ts";
import { AccessWorld, namesIn, type AccessWorldOptions } from "./access-world.ts";

const ALLOWED = { kind: "allowed" } as const;
const DENIED = { kind: "denied", reason: "not for you" } as const;
const call = (name: string, args: object = {}) => ({ name, arguments: args });

describe("the host's policy", () => {
  test("a tool on the host's deny list is neither listed nor called on either endpoint (R8)", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { policy: { deny: ["box.d*"] } });
    expect(namesIn(await world.ask("tools/list"))).not.toContain("box__destroy");
    expect(namesIn(await world.ask("tools/list", {}, { server: "box" }))).not.toContain("destroy");
    expect((await world.ask("tools/call", call("box__destroy"))).error).toBeDefined();
    expect((await world.ask("tools/call", call("destroy"), { server: "box" })).error).toBeDefined();
    expect((await world.ask("tools/call", call("box__look"))).result).toBeDefined();
    expect(calledTools(box)).toEqual(["look"]);
  });

  test("a tool of another program that finds others does not show those that the caller may not call", async () => {
    const tools = [{ name: "look", effect: "read" }, { name: "destroy", effect: "destructive" }, { name: "erase" }];
    const found = { content: [{ type: "text", text: "look, destroy, erase" }], structuredContent: { tools, more: 0 } };
    const box = cabinet({
      era: "legacy",
      tools: { look: () => "looked", search_tools: { _meta: { "dev.nexus/finds": "tools" }, run: () => found } },
    });
    const decide: Decide = (_principal, _operation, { name }) => (name === "erase" ? DENIED : ALLOWED);
    await using http = await overHttp(box);
    const entries = { box: { url: http.url } };
    await using world = await AccessWorld.open({}, { entries, policy: { deny: ["box.d*"] }, decide });
    const { result } = await world.ask("tools/call", call("box__search_tools", { query: "all" }));
    expect(result).toMatchObject({ structuredContent: { tools: [{ name: "look" }], more: 0 } });
    expect(JSON.stringify(result)).not.toMatch(/destroy|erase/);
  });

  test("rules about a name also apply to a tool that is called through another tool", async () => {
    const box = cabinet({
      era: "legacy",
      tools: { look: () => "looked", call_tool: { _meta: { "dev.nexus/calls": "name" }, run: () => "called" } },
    });
    const decide: Decide = (_principal, _operation, { name }) => (name === "erase" ? DENIED : ALLOWED);
    await using http = await overHttp(box);
    const entries = { box: { url: http.url } };
    await using world = await AccessWorld.open({}, { entries, policy: { deny: ["box.d*"] }, decide });
    for (const name of ["box__call_tool", "call_tool"]) {
      const options = name === "call_tool" ? { server: "box" } : {};
      for (const inner of ["destroy", "erase"]) {
        expect((await world.ask("tools/call", call(name, { name: inner }), options)).error).toBeDefined();
      }
      expect((await world.ask("tools/call", call(name, { name: "look" }), options)).result).toBeDefined();
    }
    expect(calledTools(box)).toEqual(["call_tool", "call_tool"]);
  });

  test("with readOnly, tools without the annotation and unknown methods are refused, resources and prompts are not (R8)", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { policy: { readOnly: true } });
    const server = "box";
    expect(namesIn(await world.ask("tools/list"))).toEqual(["box__look"]);
    expect(namesIn(await world.ask("tools/list", {}, { server }))).toEqual(["look"]);
    for (const name of ["change", "destroy"]) {
      expect((await world.ask("tools/call", call(name), { server })).error).toBeDefined();
    }
    expect((await world.ask("acme/run", {}, { server })).error?.code).toBe(-32601);
    expect((await world.ask("resources/read", { uri: "note://open" }, { server })).result).toBeDefined();
    expect((await world.ask("prompts/get", { name: "box__greet" })).result).toBeDefined();
    expect((await world.ask("tools/call", call("look"), { server })).result).toBeDefined();
    expect(calledTools(box)).toEqual(["look"]);
    expect(box.methods).not.toContain("acme/run");
  });

  test("consent is asked before a call, with the principal as the agent, and decides (R8)", async () => {
    const box = cabinet();
    const asked: ConsentRequest[] = [];
    const consent = (request: ConsentRequest) => {
      asked.push(request);
      return request.agent === "alice";
    };
    await using world = await AccessWorld.open({ box }, { policy: { consent } });
    expect(namesIn(await world.ask("tools/list", {}, { user: "bob" }))).toContain("box__destroy");
    expect((await world.ask("tools/call", call("box__destroy", { at: 1 }), { user: "bob" })).error).toBeDefined();
    expect(calledTools(box)).toEqual([]);
    expect((await world.ask("tools/call", call("box__destroy", { at: 2 }), { user: "alice" })).result).toBeDefined();
    const session = await world.session({ server: "box", user: "bob" });
    expect((await session.answerTo("tools/call", call("destroy", { at: 3 }))).error).toBeDefined();
    expect((await world.ask("tools/call", call("box__look"), { user: "bob" })).result).toBeDefined();
    expect(calledTools(box)).toEqual(["destroy", "look"]);
    expect(asked.map(({ agent, tool, arguments: args }) => [agent, tool, args])).toEqual([
      ["bob", "destroy", { at: 1 }],
      ["alice", "destroy", { at: 2 }],
      ["bob", "destroy", { at: 3 }],
    ]);
    expect(asked[0]).toMatchObject({ server: "box", kind: "tool", annotations: { destructiveHint: true } });
  });

  test("a call that asks its caller is consented to once, and a copy of its last round is consented to again", async () => {
    const box = cabinet();
    let asked = 0;
    await using world = await AccessWorld.open({ box }, { policy: { consent: () => ++asked === 1 } });
    const first = await world.ask("tools/call", call("box__asking"));
    expect(first.result).toMatchObject({ resultType: "input_required" });
    const inputResponses = { "question-1": { action: "accept", content: {} } };
    const again = { ...call("box__asking"), inputResponses, requestState: first.result?.requestState as string };
    expect((await world.ask("tools/call", again)).result).toMatchObject({ content: [{ text: "asked" }] });
    expect(asked).toBe(1);
    expect((await world.ask("tools/call", again)).error).toBeDefined();
    expect(asked).toBe(2);
    expect((await world.ask("tools/call", { ...again, requestState: "forged" })).error?.message).toBe(
      "request state not valid",
    );
    expect(asked).toBe(2);
    expect(calledTools(box)).toHaveLength(2);
  });

  test("a server that is shared with some agents is there for principals of these names alone (R8)", async () => {
    const [box, shelf] = [cabinet(), cabinet()];
    await using world = await AccessWorld.open({ box, shelf }, { policy: { visibleTo: { box: ["alice"] } } });
    const servers = async (user: string) =>
      new Set(namesIn(await world.ask("tools/list", {}, { user })).map((name) => name.split("__")[0]));
    expect(await servers("alice")).toEqual(new Set(["box", "shelf"]));
    expect(await servers("bob")).toEqual(new Set(["shelf"]));
    expect((await world.ask("tools/call", call("box__look"), { user: "bob" })).error).toBeDefined();
    expect((await world.ask("tools/call", call("box__look"), { user: "alice" })).result).toBeDefined();
    expect(calledTools(box)).toEqual(["look"]);
    const list = await world.ask("tools/list", {}, { user: "alice" });
    expect(list.result).toMatchObject({ cacheScope: "private" });
  });
});

describe("the gateway's own decide", () => {
  const noDestruction: Decide = (_principal, _operation, { kind, annotations }) =>
    kind === "tool" && annotations?.destructiveHint === true ? DENIED : ALLOWED;

  test("a destructive tool that is hidden from the list does not run (R8)", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { decide: noDestruction });
    expect(namesIn(await world.ask("tools/list"))).toEqual(["box__look", "box__change", "box__working"]);
    expect(namesIn(await world.ask("tools/list", {}, { server: "box" }))).toEqual(["look", "change", "working"]);
    const session = await world.session({ server: "box" });
    for (const answer of [
      await world.ask("tools/call", call("box__destroy")),
      await world.ask("tools/call", call("destroy"), { server: "box" }),
      await session.answerTo("tools/call", call("destroy")),
      await (await world.session()).answerTo("tools/call", call("box__destroy")),
    ]) {
      expect(answer.error).toBeDefined();
    }
    expect(calledTools(box)).toEqual([]);
    expect((await world.ask("tools/call", call("box__change"))).result).toBeDefined();
  });

  test("the list of tools is read before the first call where no caller has asked for it", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open(
      { box },
      { decide: noDestruction, entries: { box: { auto_start: false } } },
    );
    expect((await world.ask("tools/call", call("box__destroy"))).error).toBeDefined();
    expect((await world.ask("tools/call", call("box__look"))).result).toBeDefined();
    expect(calledTools(box)).toEqual(["look"]);
  });

  test("a server that lists a tool to callers in a milder light than to the host gains nothing, nor the other way round", async () => {
    for (const isMildToCallers of [true, false]) {
      const box = cabinet();
      const harmless = { annotations: { readOnlyHint: true } };
      const harmful = { annotations: { destructiveHint: true } };
      box.on("tools/list", (params) => {
        const declared = Object.values((params["_meta"] as Record<string, unknown> | undefined) ?? {});
        const isCaller = declared.some(
          (value) => typeof value === "object" && value !== null && "elicitation" in value,
        );
        const tool = isCaller === isMildToCallers ? harmless : harmful;
        return { tools: [{ name: "look", inputSchema: { type: "object" }, ...tool }] };
      });
      await using world = await AccessWorld.open({ box }, { policy: { readOnly: true } });
      const asking = { server: "box" };
      expect(namesIn(await world.ask("tools/list", {}, asking))).toEqual([]);
      expect((await world.ask("tools/call", call("look"), asking)).error).toBeDefined();
      expect(calledTools(box)).toEqual([]);
    }
  });

  test("a tool that a server lists to callers with other capabilities alone can be used by them", async () => {
    const box = cabinet();
    box.on("tools/list", (params) => {
      const isCaller = JSON.stringify(params).includes("elicitation");
      const tool = { inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
      return { tools: isCaller ? [{ name: "look", ...tool }] : [] };
    });
    await using world = await AccessWorld.open({ box }, { policy: { readOnly: true } });
    const server = "box";
    expect((await world.ask("tools/call", call("look"), { server })).result).toBeDefined();
    expect((await world.ask("tools/call", call("look"), { server, capabilities: {} })).error).toBeDefined();
    expect(calledTools(box)).toEqual(["look"]);
  });

  test("a tool that a caller's own process adds for this caller is listed and called under rules", async () => {
    const entries = { kit: stdioFixture(["--revision", "2025-11-25"]) };
    await using world = await AccessWorld.open({}, { entries, policy: { deny: ["kit.crash"] } });
    for (const server of [undefined, "kit"]) {
      const session = await world.session({ server });
      const full = (name: string) => (server === undefined ? `kit__${name}` : name);
      expect(namesIn(await session.answerTo("tools/list"))).not.toContain(full("crash"));
      expect((await session.answerTo("tools/call", call(full("extra_tool")))).error).toBeDefined();
      expect((await session.answerTo("tools/call", call(full("test_trigger_tool_change")))).result).toBeDefined();
      expect((await session.answerTo("tools/call", call(full("extra_tool")))).result).toBeDefined();
      expect(namesIn(await session.answerTo("tools/list"))).toContain(full("extra_tool"));
      const stranger = await world.session({ server, user: "bob" });
      expect((await stranger.answerTo("tools/call", call(full("extra_tool")))).error).toBeDefined();
    }
  });

  test("what needs consent by decide is shown, asks the host's consent, and is refused where there is none", async () => {
    const decide: Decide = (_principal, _operation, { name }) =>
      name === "change" ? { kind: "needs-consent" } : ALLOWED;
    for (const answer of [true, false, undefined]) {
      const box = cabinet();
      const policy = answer === undefined ? {} : { consent: ({ tool }: ConsentRequest) => tool === "change" && answer };
      await using world = await AccessWorld.open({ box }, { decide, policy });
      expect(namesIn(await world.ask("tools/list"))).toContain("box__change");
      const said = await world.ask("tools/call", call("box__change"));
      expect([answer, said.error === undefined]).toEqual([answer, answer === true]);
      expect(calledTools(box)).toEqual(answer === true ? ["change"] : []);
    }
  });

  test("a decide that differs for listing and using is held to the stricter of both, and one that throws allows nothing", async () => {
    const box = cabinet();
    const decide: Decide = (_principal, operation, { kind, name }) => {
      if (name === "look") throw new Error("out of order");
      return kind === "tool" && (name === "change") === (operation === "list") ? DENIED : ALLOWED;
    };
    await using world = await AccessWorld.open({ box }, { decide });
    expect(namesIn(await world.ask("tools/list"))).toEqual([]);
    for (const name of ["look", "change", "destroy"]) {
      expect((await world.ask("tools/call", call(`box__${name}`))).error).toBeDefined();
    }
    expect(calledTools(box)).toEqual([]);
  });
});

test.each([async () => ({ kind: "denied" }), () => ({ kind: "deny" }), () => undefined, () => true])(
  "a decide that returns something other than a decision allows nothing: %s",
  async (returned) => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { decide: returned as unknown as Decide });
    expect(namesIn(await world.ask("tools/list"))).toEqual([]);
    expect((await world.ask("tools/call", call("box__look"))).error).toBeDefined();
    expect((await world.ask("tools/list", {}, { server: "box" })).error).toBeDefined();
    expect(calledTools(box)).toEqual([]);
  },
);

describe("methods of extensions", () => {
  const asking = { server: "box" };

  test.each<[string, AccessWorldOptions]>([
    ["a deny list that concerns the server", { policy: { deny: ["box.destroy"] } }],
    ["a deny list for every server", { policy: { deny: ["*.destroy"] } }],
    ["an allow list without them", { policy: { allow: ["box.*k"] } }],
    ["readOnly, whatever is allowed", { policy: { readOnly: true, allow: ["*"] } }],
    ["rules of the entry", { entries: { box: { tools: { deny: ["destroy"] } } } }],
    ["a decide that denies them", { decide: (_p, _o, { kind }) => (kind === "method" ? DENIED : ALLOWED) }],
  ])("a method of an extension is refused by %s (R8)", async (_what, options) => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, options);
    const session = await world.session(asking);
    for (const answer of [await world.ask("acme/run", {}, asking), await session.answerTo("acme/run")]) {
      expect(answer.error).toMatchObject({ code: -32601, message: `Method not found: acme/run` });
    }
    expect(box.methods).not.toContain("acme/run");
  });

  test.each<[string, AccessWorldOptions]>([
    ["no rules", {}],
    ["rules for another server", { policy: { deny: ["other"] } }],
    ["an allow list with everything of the server", { policy: { allow: ["box"], deny: ["box.destroy"] } }],
    ["an allow list with its methods", { policy: { allow: ["box/methods"] } }],
    [
      "an allow list beside the entry's rules",
      { policy: { allow: ["*"] }, entries: { box: { tools: { deny: ["x"] } } } },
    ],
    ["a decide that allows them", { decide: () => ALLOWED }],
  ])("a method of an extension passes with %s", async (_what, options) => {
    await using world = await AccessWorld.open({ box: cabinet() }, options);
    expect((await world.ask("acme/run", {}, asking)).result).toMatchObject({ ran: true });
  });

  test("a consent function is asked about an allowed method of an extension by its name", async () => {
    const asked: unknown[] = [];
    const consent = ({ kind, tool, arguments: args }: ConsentRequest) => asked.push([kind, tool, args]) > 1;
    await using world = await AccessWorld.open({ box: cabinet() }, { policy: { consent, allow: ["*"] } });
    expect((await world.ask("acme/run", { hard: true }, asking)).error?.code).toBe(-32601);
    expect((await world.ask("acme/run", { hard: true }, asking)).result).toMatchObject({ ran: true });
    expect(asked[0]).toEqual(["method", "acme/run", { hard: true }]);
  });
});

describe("completions, subscriptions and tasks", () => {
  const decide: Decide = ({ id }, _operation, { kind, name }) =>
    id === "guest" && ["note://secret", "curse"].includes(name) && kind !== "tool" ? DENIED : ALLOWED;

  test("a completion is decided as the prompt or resource that it is for", async () => {
    const box = cabinet();
    await using world = await AccessWorld.open({ box }, { decide });
    const argument = { name: "x", value: "" };
    const complete = (ref: object, user: string) =>
      world.ask("completion/complete", { ref: { ...ref }, argument }, { user, server: "box" });
    for (const ref of [
      { type: "ref/prompt", name: "curse" },
      { type: "ref/resource", uri: "note://secret" },
    ]) {
      expect((await complete(ref, "guest")).error).toBeDefined();
      expect((await complete(ref, "boss")).result).toBeDefined();
    }
    expect(box.methods.filter((method) => method === "completion/complete")).toHaveLength(2);
  });

  test("a subscription is decided as its resource, and an update of it is not told once that is denied", async () => {
    const box = cabinet();
    let isOpen = true;
    const changing: Decide = (_principal, _operation, { name }) =>
      name === "note://secret" || (name === "note://open" && !isOpen) ? DENIED : ALLOWED;
    await using world = await AccessWorld.open({ box }, { decide: changing });
    const notifications = { resourceSubscriptions: ["box+note://open", "box+note://secret"] };
    const stream = new OpenStream(world.url(), modern("subscriptions/listen", { notifications }));
    await expect
      .poll(() => stream.events[0]?.params?.notifications)
      .toEqual({
        resourceSubscriptions: ["box+note://open"],
      });
    const update = async (number: number) => {
      box.notify("notifications/resources/updated", { uri: "note://open", number });
      // What goes there and back on a socket comes after it.
      await world.ask("tools/list");
    };
    await update(1);
    isOpen = false;
    await update(2);
    isOpen = true;
    await update(3);
    await expect.poll(() => stream.events.at(-1)?.params?.number).toBe(3);
    expect(stream.events.slice(1).map(({ params }) => params?.number)).toEqual([1, 3]);
    stream.leave();
    const session = await world.session({ server: "box" });
    expect((await session.answerTo("resources/subscribe", { uri: "note://secret" })).error?.code).toBe(-32602);
  });

  test("a task is decided as the tool that made it", async () => {
    const box = cabinet();
    box.on("tools/call", () => ({ resultType: "task", taskId: "t1", status: "working", ttlMs: null }));
    let isOpen = true;
    const changing: Decide = (_principal, _operation, { kind, annotations }) =>
      kind === "tool" && annotations?.destructiveHint === true && !isOpen ? DENIED : ALLOWED;
    await using world = await AccessWorld.open({ box }, { decide: changing });
    const { result } = await world.ask("tools/call", call("box__destroy"));
    const taskId = result?.taskId as string;
    expect((await world.ask("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
    isOpen = false;
    const before = box.received.length;
    const hidden = await Promise.all(["tasks/get", "tasks/cancel"].map((method) => world.ask(method, { taskId })));
    const unknown = await Promise.all(
      ["tasks/get", "tasks/cancel"].map((method) => world.ask(method, { taskId: "never-was" })),
    );
    expect(hidden.map(({ error }) => error)).toEqual(unknown.map(({ error }) => error));
    expect(hidden[0]?.error?.message).toBe("Unknown task");
    expect(box.received.slice(before)).toEqual([]);
    isOpen = true;
    expect((await world.ask("tasks/cancel", { taskId })).result).toBeDefined();
  });
});

test("a change of an entry's rules changes the lists, and those who may see the server are told", async () => {
  const box = cabinet();
  await using world = await AccessWorld.open({ box }, { policy: { visibleTo: { box: ["alice"] } } });
  const listen = { notifications: { toolsListChanged: true } };
  const streams = ["alice", "bob"].map((user) => {
    return new OpenStream(world.url(), modern("subscriptions/listen", listen, { headers: { "x-user": user } }));
  });
  const [alice, bob] = streams;
  await expect.poll(() => [alice?.events.length, bob?.events.length]).toEqual([1, 1]);
  await world.host.setServers({ box: { api: "/box", tools: { deny: ["look"] } } });
  await expect.poll(() => alice?.events.length).toBe(2);
  expect(bob?.events.length).toBe(1);
  expect(namesIn(await world.ask("tools/list", {}, { user: "alice" }))).not.toContain("box__look");
  for (const stream of streams) stream.leave();
});
