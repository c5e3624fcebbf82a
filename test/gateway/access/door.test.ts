import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { NexusError } from "../../../src/errors/nexus-error.ts";
import { serve, type Door, type Principal } from "../../../src/gateway/index.ts";
import { Host } from "../../../src/index.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { eventsOf, send as post, type WireEvent } from "../legacy/legacy-wire.ts";
import { AccessWorld, namesIn } from "./access-world.ts";

/** A door whose rules the test changes. Callers say who they are in a header. */
class TestDoor implements Door {
  readonly inside = new Set(["ada", "bob"]);
  decide: Door["decide"];
  tenant = "default";
  #tell: (principal: Principal) => void = () => {};

  /** Called for each request. */
  onAsked: () => void = () => {};

  readonly authenticate: Door["authenticate"] = ({ "x-user": user }) => {
    setImmediate(() => this.onAsked());
    if (user === "nobody") throw new NexusError("STORE_UNAVAILABLE", "Nobody can be verified");
    if (typeof user !== "string" || !this.inside.has(user)) throw new NexusError("AUTH_REQUIRED", "Who are you?");
    return { id: user, tenant: this.tenant };
  };

  admits({ id }: Principal): boolean {
    return this.inside.has(id);
  }

  onExpelled(listener: (principal: Principal) => void): () => void {
    this.#tell = listener;
    return () => (this.#tell = () => {});
  }

  seesMetrics({ id }: Principal): boolean {
    return id === "bob";
  }

  expel(id: string): void {
    this.inside.delete(id);
    this.#tell({ id, tenant: this.tenant });
  }
}

const tools = () => new ScriptedServer({ tools: { look: () => "seen", push: () => "pushed" } });

async function open(door: Door, server = tools()): Promise<AccessWorld> {
  return AccessWorld.open({ box: server }, { door });
}

test("rules that come while the gateway runs hold from the next request on, for lists and calls alike", async () => {
  const door = new TestDoor();
  await using world = await open(door);
  const listed = async () => namesIn(await world.ask("tools/list", {}, { user: "ada" }));
  expect(await listed()).toEqual(["box__look", "box__push"]);
  door.decide = (_principal, _operation, { kind, name }) =>
    kind === "tool" && name === "push" ? { kind: "denied", reason: "not now" } : { kind: "allowed" };
  expect(await listed()).toEqual(["box__look"]);
  const push = { name: "box__push", arguments: {} };
  expect((await world.ask("tools/call", push, { user: "ada" })).error?.message).toContain("There is no tool");
  door.decide = undefined;
  expect(await listed()).toEqual(["box__look", "box__push"]);
  expect((await world.ask("tools/call", push, { user: "ada" })).error).toBeUndefined();
});

test("whoever is expelled loses streams, sessions and running calls; others keep theirs", async () => {
  const door = new TestDoor();
  const server = tools();
  await using world = await open(door, server);
  const listen = (user: string) => {
    const request = modern(
      "subscriptions/listen",
      { notifications: { toolsListChanged: true } },
      { headers: { "x-user": user } },
    );
    return new OpenStream(world.url(), request);
  };
  const [adas, bobs] = [listen("ada"), listen("bob")];
  await expect.poll(() => [adas.events.length, bobs.events.length]).toEqual([1, 1]);
  const session = await world.session({ user: "ada" });
  const release = server.holdNext("tools/call");
  const running = world.ask("tools/call", { name: "box__look", arguments: {} }, { user: "ada" });
  await server.receive("tools/call");

  door.expel("ada");
  expect((await running).error?.message).toContain("credentials are not valid any more");
  await expect.poll(() => adas.ended).toBe(true);
  expect(bobs.ended).toBe(false);
  door.inside.add("ada");
  // The session is gone for good, also for somebody who is let in again.
  const after = await session.post({ id: 5, method: "tools/list" });
  expect(after.status).toBe(404);
  release();
  bobs.leave();
});

describe("calls of older clients whose caller is expelled", () => {
  const LOOK = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "box__look", arguments: {} } };
  const ANSWER = {
    jsonrpc: "2.0",
    id: 5,
    error: {
      code: -32603,
      message: "The credentials are not valid any more",
      data: { code: "CANCELLED", mayHaveReached: true },
    },
  };

  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])("a call of %s is answered on its stream", async (version) => {
    const door = new TestDoor();
    const server = tools();
    await using world = await open(door, server);
    const session = await world.session({ user: "ada" }, version);
    const release = server.holdNext("tools/call");
    // Resolves when the call has become a stream.
    const stream = await session.post(LOOK);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    door.expel("ada");
    expect(await messagesIn(eventsOf(stream))).toEqual([ANSWER]);
    release();
  });

  test("a call of 2025-11-25 that has no stream yet is answered", async () => {
    const door = new TestDoor();
    const server = tools();
    await using world = await open(door, server);
    const session = await world.session({ user: "ada" });
    const release = server.holdNext("tools/call");
    const answer = session.answerTo("tools/call", LOOK.params);
    await server.receive("tools/call");
    door.expel("ada");
    expect(await answer).toEqual({ ...ANSWER, id: 1 });
    release();
  });

  test("a call of HTTP+SSE is answered on the stream of its session", async () => {
    const door = new TestDoor();
    const server = tools();
    await using world = await open(door, server);
    const headers = { "x-user": "ada" };
    const stream = await fetch(new URL("/sse", world.url()), { headers });
    const events = eventsOf(stream);
    const { value: first } = await events.next();
    const messages = new URL(String(first?.data), world.url()).href;
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "wire", version: "1" } };
    await post(messages, { jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
    await events.next();
    const release = server.holdNext("tools/call");
    await post(messages, LOOK, headers);
    await server.receive("tools/call");
    door.expel("ada");
    expect(await messagesIn(events)).toEqual([ANSWER]);
    release();
  });

  async function messagesIn(events: AsyncIterable<WireEvent>): Promise<WireMessage[]> {
    const messages: WireMessage[] = [];
    for await (const { message } of events) if (message) messages.push(message);
    return messages;
  }
});

test("a request that was let in before its sender was expelled opens nothing when it has arrived", async () => {
  const door = new TestDoor();
  await using world = await open(door);
  const { headers, body = "" } = modern(
    "subscriptions/listen",
    { notifications: { toolsListChanged: true } },
    { headers: { "x-user": "ada", "content-length": undefined } },
  );
  const asked = new Promise<void>((resolve) => (door.onAsked = resolve));
  const sent = request(world.url(), { method: "POST", headers, agent: false });
  sent.write(body.slice(0, 20));
  await asked;
  door.expel("ada");
  sent.end(body.slice(20));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  answer.resume();
});

test("a stream that waits for its tenant does not open after its caller was expelled", async () => {
  const door = new TestDoor();
  door.tenant = "acme";
  let openHost: () => void = () => {};
  const opening = new Promise<void>((resolve) => (openHost = resolve));
  const host = () => Host.open({ servers: { box: tools().transport }, backoff: { firstMs: 20 } });
  const openTenant = async () => {
    await opening;
    return host();
  };
  await using gateway = await serve({ host: await host(), port: 0, door, openTenant });
  const asked = new Promise<void>((resolve) => (door.onAsked = resolve));
  const answer = fetch(new URL("/sse", gateway.url), { headers: { "x-user": "ada" } });
  await asked;
  door.expel("ada");
  openHost();
  const { status, body } = await answer;
  expect(status).toBe(401);
  await body?.cancel();
});

test("metrics are for those whom the door lets see them", async () => {
  await using world = await open(new TestDoor());
  expect((await world.get("/metrics", "bob")).status).toBe(200);
  expect(await world.get("/metrics", "ada")).toMatchObject({
    status: 403,
    text: expect.stringContaining("role operator"),
  });
  expect((await world.get("/metrics", "eve")).status).toBe(401);
});

test("a door that cannot verify anybody at the moment answers 503, and says when to come again", async () => {
  await using world = await open(new TestDoor());
  const { status, headers, text } = await send(
    world.url(),
    modern("tools/list", {}, { headers: { "x-user": "nobody" } }),
  );
  expect([status, headers["retry-after"]]).toEqual([503, "1"]);
  expect(text).toContain("Nobody can be verified");
});
