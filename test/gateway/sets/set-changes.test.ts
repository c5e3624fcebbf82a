import { afterAll, beforeAll, expect, test } from "vitest";
import { MemorySets, type SetDefinition } from "../../../src/gateway/index.ts";
import type { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { cabinet } from "../access/access-servers.ts";
import { AccessWorld, namesIn } from "../access/access-world.ts";
import { modern, OpenStream } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { eventsOf, type LegacyWire } from "../legacy/legacy-wire.ts";

const LOOKING: SetDefinition = { allow: ["box.look", "box/resources"] };
const CHANGING: SetDefinition = { allow: ["box.change"] };
const other = { allow: ["box"] };
const sets = new MemorySets({ desk: LOOKING, other });
let box: ScriptedServer;
let world: AccessWorld;

beforeAll(async () => {
  box = cabinet();
  world = await AccessWorld.open({ box, chest: cabinet() }, { sets });
});

afterAll(() => world[Symbol.asyncDispose]());

function listen(set: string): OpenStream {
  const notifications = { toolsListChanged: true, resourceSubscriptions: ["box+note://open"] };
  return new OpenStream(world.setUrl(set), modern("subscriptions/listen", { notifications }));
}

/** The own stream of an older client's session. */
async function streamOf(session: LegacyWire) {
  const stream = { messages: [] as WireMessage[], ended: false };
  const response = await session.get();
  const read = async () => {
    for await (const { message } of eventsOf(response)) if (message) stream.messages.push(message);
  };
  void read().finally(() => (stream.ended = true));
  return stream;
}

const methodsOn = (messages: readonly WireMessage[]) => messages.flatMap(({ method }) => method ?? []);
const CHANGED = "notifications/tools/list_changed";

test("a set that changes is served at once, and its listeners alone are told", async () => {
  sets.replace({ desk: LOOKING, other });
  const [desk, beside] = [listen("desk"), listen("other")];
  const session = await world.session({ set: "desk" });
  const stream = await streamOf(session);
  await expect.poll(() => [desk, beside].every(({ events }) => events.length > 0)).toBe(true);
  expect(desk.events[0]?.params?.["notifications"]).toMatchObject({ resourceSubscriptions: ["box+note://open"] });
  sets.replace({ desk: CHANGING, other });
  expect(namesIn(await world.ask("tools/list", {}, { set: "desk" }))).toEqual(["box__change"]);
  expect(namesIn(await session.answerTo("tools/list"))).toEqual(["box__change"]);
  await expect.poll(() => methodsOn(desk.events)).toContain(CHANGED);
  await expect.poll(() => methodsOn(stream.messages)).toContain(CHANGED);
  expect(methodsOn(beside.events)).toEqual(["notifications/subscriptions/acknowledged"]);
  // The resource is not in the set any more.
  box.notify("notifications/resources/updated", { uri: "note://open" });
  await expect.poll(() => methodsOn(beside.events)).toContain("notifications/resources/updated");
  expect(methodsOn(desk.events)).not.toContain("notifications/resources/updated");
  for (const each of [desk, beside]) each.leave();
  await session.delete();
});

test("a set that is removed ends its streams and sessions, and is unknown from then on; others stay", async () => {
  sets.replace({ desk: LOOKING, other });
  const [desk, beside] = [listen("desk"), listen("other")];
  const session = await world.session({ set: "desk" });
  const stream = await streamOf(session);
  await expect.poll(() => [desk, beside].every(({ events }) => events.length > 0)).toBe(true);
  sets.replace({ other });
  expect(await world.exactly("tools/list", {}, { set: "desk" })).toMatchObject({ status: 404 });
  await expect.poll(() => [desk.ended, stream.ended]).toEqual([true, true]);
  expect((await session.request("tools/list")).status).toBe(404);
  expect(beside.ended).toBe(false);
  beside.leave();
});
