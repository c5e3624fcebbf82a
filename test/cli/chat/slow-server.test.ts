import { describe, expect, test } from "vitest";
import { ChatWorld, KEYS } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { askingServer } from "../../fixtures/servers/asking-server.ts";

/** Reads what it gets and never answers. */
const slow = { command: process.execPath, args: ["-e", "process.stdin.resume()"], connection_timeout: "5m" };
const files = askingServer({ tools: [{ name: "read" }] });

test("a server that is still starting is a warning of chat -p, also with --json", async () => {
  await using world = await ChatWorld.open({ servers: { files, slow } });
  const [text, programs] = await Promise.all([world.chat(["-p", "Hi"]), world.answer("Hi")]);
  expect(text).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(text.stderr).toContain(`warning: server "slow" is still starting; its tools are added when it is ready\n`);
  expect(programs.json).toMatchObject({
    text: "Done.",
    warnings: [{ server: "slow", error: { code: "TIMEOUT", message: expect.stringContaining("still starting") } }],
  });
});

describe.runIf(HAS_TERMINAL)("at a terminal", () => {
  test("a chat names the servers that it waits for, and Ctrl-C ends it without a banner", async () => {
    await using world = await ChatWorld.open({ servers: { files, slow } });
    const talk = world.talk();
    await talk.shows("starting: slow (");
    talk.type(KEYS.ctrlC);
    expect(await talk.ended()).toBe(130);
    expect(talk.screen).not.toContain("nexus chat");
    expect(talk.screen).not.toContain("warning:");
  });
});
