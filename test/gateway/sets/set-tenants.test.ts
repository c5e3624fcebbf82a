import { afterAll, beforeAll, expect, test } from "vitest";
import { MemorySets } from "../../../src/gateway/index.ts";
import { markOf } from "../tenants/marked-servers.ts";
import { namesIn, TenantWorld } from "../tenants/tenant-world.ts";

const ALICE = "acme/alice";
const OTHER = "beta/alice";
const DESK = { set: "desk" };
const sets = new MemorySets();
let world: TenantWorld;

beforeAll(async () => {
  sets.replace({ desk: { allow: ["docs.look", "docs.working"] }, own: { allow: ["docs"] } }, "acme");
  sets.replace({ desk: { allow: ["docs", "acme-only"], deny: ["docs.asking"] } }, "beta");
  world = await TenantWorld.open({ sets });
});
afterAll(() => world[Symbol.asyncDispose]());

test("a set of one tenant is unknown in another, whose set of the same name has its own servers' things", async () => {
  expect(namesIn(await world.ask(ALICE, "tools/list", {}, DESK))).toEqual(["docs__look", "docs__working"]);
  expect(namesIn(await world.ask(OTHER, "tools/list", {}, DESK))).toEqual([
    "docs__look",
    "docs__look-beta",
    "docs__working",
  ]);
  const [mine, none, unknown] = await Promise.all([
    world.post(OTHER, "tools/list", {}, { set: "own" }),
    world.post("default/alice", "tools/list", {}, DESK),
    world.post(OTHER, "tools/list", {}, { set: "nothing" }),
  ]);
  expect([mine.status, none.status]).toEqual([404, 404]);
  expect(mine.text.replaceAll("own", "nothing")).toBe(unknown.text);
  const call = { name: "docs__look", arguments: {} };
  const { result } = await world.ask(OTHER, "tools/call", call, DESK);
  expect(JSON.stringify(result)).toContain(markOf("beta"));
});

test("a task or session of a tenant's set is unknown in the set of the same name of another", async () => {
  const started = await world.ask(ALICE, "tools/call", { name: "docs__working", arguments: {} }, DESK);
  const task = { taskId: String(started.result?.["taskId"]) };
  expect((await world.ask(ALICE, "tasks/get", task, DESK)).result).toMatchObject({ status: "completed" });
  expect((await world.ask(OTHER, "tasks/get", task, DESK)).error?.message).toBe("Unknown task");
  const session = await world.session(ALICE, DESK);
  expect(namesIn(await session.answerTo("tools/list"))).toEqual(["docs__look", "docs__working"]);
  expect((await session.request("tools/list", {}, { "x-user": OTHER })).status).toBe(404);
});

test("a set that is removed in one tenant stays in the other, and its sessions end there alone", async () => {
  const [mine, theirs] = [await world.session(ALICE, DESK), await world.session(OTHER, DESK)];
  sets.replace({}, "acme");
  expect((await mine.request("tools/list")).status).toBe(404);
  expect(namesIn(await theirs.answerTo("tools/list"))).toContain("docs__look-beta");
  expect(world.audited.some(({ principal, set }) => set === "desk" && principal.tenant === "acme")).toBe(true);
});
