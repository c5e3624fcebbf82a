import { chmod, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatWorld } from "../../fixtures/chat-world.ts";

test("a damaged saved chat is named by --list, and --resume alone takes the newest one that can be read", async () => {
  await using world = await ChatWorld.open();
  const { json } = await world.answer("Hi");
  await writeDamaged(world);

  const list = await world.chat(["--list"]);
  expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining(String(json.session)) });
  expect(list.stderr).toMatch(/^warning: The saved chat "broken" is damaged \(.*broken\.json\)\n$/);
  const listed: unknown = JSON.parse((await world.chat(["--list", "--json"])).stdout);
  expect(listed).toMatchObject({ items: [{ id: json.session }], errors: [{ code: "DATA_DAMAGED" }] });

  const resumed = await world.chat(["-p", "Again", "--resume"]);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain(`"broken" is damaged`);
  expect(resumed.stderr).toContain(`Chat "${json.session}" is continued instead.`);
});

test("if no saved chat can be read, --resume exits with 10", async () => {
  await using world = await ChatWorld.open();
  await writeDamaged(world);
  expect(await world.chat(["-p", "Again", "--resume"])).toMatchObject({ code: 10 });
  expect(world.provider.asked).toEqual([]);
});

/** Newer than any other. */
async function writeDamaged({ nexus }: ChatWorld): Promise<void> {
  const path = "home/.local/state/nexus/chats/broken.json";
  await nexus.write(path, "{");
  const file = join(nexus.home, path.slice("home/".length));
  await chmod(file, 0o600);
  const later = new Date(Date.now() + 60_000);
  await utimes(file, later, later);
}
