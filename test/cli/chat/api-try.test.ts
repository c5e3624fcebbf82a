import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ChatWorld, KEYS, textsOf } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { booking, STAY } from "../../workshop/capcorn/capcorn-stay.ts";

const CAPCORN = fileURLToPath(new URL("../../../api/capcorn", import.meta.url));
const WISH = "Two adults and a child of three, 17 to 20 December";
const search = {
  name: "mcp__capcorn__availability_search",
  arguments: { ...STAY, rooms: [{ adults: 2, childAges: [3] }] },
};
const reserve = { name: "mcp__capcorn__create_reservation", arguments: booking({ extras: [] }) };

test.runIf(HAS_TERMINAL)(
  "X15: two adults and a child of three, 17 to 20 December, become a booking after consent",
  async () => {
    await using world = await ChatWorld.open();
    world.provider.script({ calls: [search] }, { text: "I book it.", calls: [reserve] }, { text: "It is booked." });
    const talk = world.talk(["capcorn"], { command: ["api", "try"] });
    await talk.shows("go to its fake, not to");
    await talk.say(WISH);
    await talk.shows("capcorn.availability_search");
    const question = await talk.shows("Allow?");
    expect(question).toContain("capcorn.create_reservation wants to run.");
    expect(question).toContain(`"expectedTotal": 675`);
    talk.type("y", KEYS.enter);
    await talk.shows("capcorn.create_reservation");
    await talk.shows("ok, ");
    await talk.shows("It is booked.");
    expect(textsOf(world.provider.asked[1])).toContain("675");
    expect(textsOf(world.provider.asked[2])).toContain("reservationId");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  },
);

test("X15: without consent the search runs and nothing is booked", async () => {
  await using world = await ChatWorld.open();
  world.provider.script({ calls: [search] }, { calls: [reserve] }, { text: "Not booked." });
  const ran = await world.nexus.run(["api", "try", "capcorn", "-p", WISH, "--json"]);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    text: "Not booked.",
    steps: [{ outcome: "ok" }, { outcome: "denied" }],
    session: null,
  });
});

test("api try opens a file that was never approved, and needs no secrets", async () => {
  await using world = await ChatWorld.open();
  const folder = join(world.nexus.project, "capcorn");
  await cp(CAPCORN, folder, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  world.provider.script({ calls: [search] }, { text: "Found." });
  const ran = await world.nexus.run(["api", "try", "./capcorn", "-p", WISH, "--json"]);
  expect(ran.code, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ steps: [{ tool: "availability_search", outcome: "ok" }] });
  expect((await world.nexus.run(["api", "try", "nosuch", "-p", "x"])).code).toBe(3);
});

test("a tool file of the configuration is used by the chat with its fake", async () => {
  await using world = await ChatWorld.open({
    servers: { capcorn: { api: join(CAPCORN, "capcorn.nexus.yaml"), upstream: "fake" } },
  });
  world.provider.script({ calls: [search] }, { text: "I book it.", calls: [reserve] }, { text: "It is booked." });
  const ran = await world.answer(WISH, "--trust", "--allow", "capcorn.create_reservation");
  expect(ran.json.steps, ran.stderr).toMatchObject([{ outcome: "ok" }, { outcome: "ok" }]);
});
