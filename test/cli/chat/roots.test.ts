import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { ChatWorld, KEYS } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const asking = { name: "mcp__kit__ask_roots", arguments: {} };

/** What the model got of the tool that asks for the roots. */
async function rootsOf(world: ChatWorld): Promise<string> {
  world.provider.script({ calls: [asking] }, { text: "Done." });
  const asked = world.provider.asked.length;
  expect((await world.chat(["-p", "Which roots?", "--yes"])).code).toBe(0);
  return JSON.stringify(world.provider.asked.slice(asked).map(({ body }) => body));
}

test("a server of the user without roots gets the working folder, one with roots keeps its own (N10)", async () => {
  await using world = await ChatWorld.open({ servers: { kit: stdioFixture() } });
  expect(await rootsOf(world)).toContain(pathToFileURL(world.nexus.project).href);
  await using other = await ChatWorld.open({ servers: { kit: { ...stdioFixture(), roots: ["/somewhere"] } } });
  const told = await rootsOf(other);
  expect(told).toContain("file:///somewhere");
  expect(told).not.toContain(pathToFileURL(other.nexus.project).href);
});

test("mcp add --root writes folders as they are from anywhere", async () => {
  await using world = await ChatWorld.open();
  const { command, args } = stdioFixture() as { command: string; args: string[] };
  const words = ["mcp", "add", "kit", "--root", ".", "--root", "file:///data", "--no-check", "--", command, ...args];
  expect((await world.nexus.run(words)).code).toBe(0);
  const written = JSON.parse(await readFile(join(world.nexus.home, ".nexus/mcp.json"), "utf8")) as {
    mcpServers: { kit: { roots: string[] } };
  };
  expect(written.mcpServers.kit.roots).toEqual([world.nexus.project, "file:///data"]);
});

describe.runIf(HAS_TERMINAL)("in a chat at a terminal", () => {
  test("/roots shows the roots, and replaces them for one server or all", async () => {
    await using world = await ChatWorld.open({ servers: { kit: stdioFixture(), other: stdioFixture() } });
    await mkdir(join(world.nexus.project, "shop"));
    const talk = world.talk();
    await talk.say("/roots");
    await talk.shows(`kit: ${pathToFileURL(world.nexus.project).href}`);
    await talk.say("/roots kit shop");
    await talk.shows(`kit: ${pathToFileURL(join(world.nexus.project, "shop")).href}`);
    await talk.say("/roots nowhere");
    await talk.shows('There is no folder "nowhere"');
    await talk.say("/roots");
    await talk.shows(`other: ${pathToFileURL(world.nexus.project).href}`);
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });

  test("closing the window ends the chat, its call and its server, and Node does not abort (N10)", async () => {
    await using world = await ChatWorld.open();
    const { command, args } = stdioFixture() as { command: string; args: string[] };
    const pids = join(world.nexus.home, "pids");
    const started = [command, ...args].map((word) => `'${word}'`).join(" ");
    const shell = ["-c", `echo $$ $PPID > '${pids}'; exec ${started}`];
    await world.nexus.run(["mcp", "add", "kit", "--no-check", "--", "sh", ...shell]);
    world.provider.script({ calls: [{ name: "mcp__kit__sleep", arguments: { ms: 600_000 } }] });
    const stderrTo = join(world.nexus.home, "stderr");
    const talk = world.talk(["--yes"], { stderrTo });
    await talk.say("Sleep.");
    await talk.shows("kit.sleep");
    const running = (await readFile(pids, "utf8")).trim().split(" ").map(Number);
    expect(running).toHaveLength(2);
    await talk.close();
    await expect.poll(() => running.filter(isRunning), { timeout: 10_000 }).toEqual([]);
    expect(await readFile(stderrTo, "utf8")).not.toMatch(/Assertion|cannot be written/);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
