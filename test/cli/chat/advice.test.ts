import { describe, expect, test } from "vitest";
import { ChatWorld, KEYS } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const everything = { everything: stdioFixture() };

test.each([
  { flags: ["--allow", "x y"], code: 2, says: "--allow" },
  { flags: ["--deny", "["], code: 2, says: "--deny" },
  { flags: ["--budget", "many"], code: 2, says: "--budget 20000" },
  { flags: ["--list"], code: 2, says: "without -p" },
  { flags: ["--server", "everythin"], code: 6, says: "everything" },
  {
    flags: ["--allow-sampling", "everythin"],
    code: 6,
    says: `Did you mean "everything"? "nexus mcp servers" lists them.`,
  },
  { flags: ["--model", "fke:fake-large"], code: 6, says: "fake:fake-large" },
])("chat -p with $flags exits with $code and says what to write", async ({ flags, code, says }) => {
  await using world = await ChatWorld.open({ servers: everything });
  const ran = await world.chat(["-p", "Hi", ...flags]);
  expect(ran.code, ran.stderr).toBe(code);
  expect(ran.stderr).toContain(says);
  expect(world.provider.asked).toEqual([]);
});

test("a resumed chat whose provider is gone says how to go on with another model", async () => {
  await using world = await ChatWorld.open();
  await world.answer("Hi");
  await world.nexus.write("home/other.json", { mcpServers: {}, models: { providers: {} } });
  const ran = await world.chat(["-p", "Hi", "--resume", "--config", `${world.nexus.home}/other.json`]);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain("--model provider:model");
  const none = await world.chat(["-p", "Hi", "--json", "--config", `${world.nexus.home}/other.json`]);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain("openai-compatible");
});

test("a damaged consent.json is named, and nothing that needs it runs", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  await world.nexus.write("home/.local/state/nexus/consent.json", "{");
  world.provider.script(
    { calls: [{ name: "mcp__everything__test_elicitation", arguments: { message: "x" } }] },
    { text: "No." },
  );
  const { stderr } = await world.chat(["-p", "Ask"]);
  expect(stderr).toContain("consent.json");
  expect(stderr).toContain("denied");
});

test("forgetting all decisions is no error without any, and an unknown one names the list", async () => {
  await using world = await ChatWorld.open();
  expect((await world.nexus.run(["consent", "forget", "--all"])).code).toBe(0);
  const unknown = await world.nexus.run(["consent", "forget", "a.b"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain("nexus consent list");
});

describe.runIf(HAS_TERMINAL)("a chat at a terminal", () => {
  test("says of a server that was disconnected or disabled how to use it again", async () => {
    const servers = { ...everything, second: stdioFixture() };
    await using world = await ChatWorld.open({ servers });
    const talk = world.talk([], { columns: 200 });
    await talk.say("/mcp disconnect everything");
    await talk.shows("everything: disconnected; to connect it: /mcp connect everything");
    for (const typed of [
      ...["retry", "enable", "disable", "tools", "resources", "prompts"].map((verb) => `/mcp ${verb} everything`),
      "/mcp prompt everything.test_simple_prompt",
      "/resource everything test://x",
      "/everything:test_simple_prompt",
    ]) {
      await talk.say(typed);
      await talk.shows("everything is disconnected. To connect it: /mcp connect everything");
    }
    await talk.say("/mcp");
    expect(await talk.shows("second: ready")).toContain("everything: disconnected; to connect it:");
    await talk.say("/mcp connect everything");
    await talk.shows("everything: ready");
    await talk.say("/mcp disable everything");
    for (const typed of ["/mcp tools everything", "/resource everything test://x", "/everything:test_simple_prompt"]) {
      await talk.say(typed);
      await talk.shows("everything is disabled. To enable it: /mcp enable everything");
    }
    await talk.shows("\n> ");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });

  test("names the next step after a wrong command, name or state", async () => {
    const servers = { ...everything, broken: { command: "no-such-program-here" } };
    await using world = await ChatWorld.open({ servers });
    const talk = world.talk([], { columns: 200 });
    await talk.shows("/mcp retry broken, /mcp logs broken, or nexus mcp doctor broken");
    for (const [typed, answer] of [
      ["/mcp foo", "Commands of /mcp: tools, resources"],
      ["/mcp prompt everything.nope", "/mcp prompts lists them"],
      ["/mcp prompt everything.test_prompt_with_arguments Rome two words", "arg1='Rome', arg2='two words'"],
      [
        "/mcp prompt everything.test_prompt_with_arguments Rome",
        "Usage: /mcp prompt everything.test_prompt_with_arguments <arg1> <arg2>",
      ],
      ["/resource everything test://nope", "/mcp resources everything lists them"],
      ["/everything:test_prompt_with_arguments", "Usage: /everything:test_prompt_with_arguments <"],
      ["/mcp disable everything", "disabled for this chat"],
      ["/mcp", "to enable it: /mcp enable everything"],
    ] as const) {
      await talk.say(typed);
      await talk.shows(answer);
    }
    await talk.shows("\n> ");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });

  test("keeps the model if its provider does not list the one that /model names", async () => {
    await using world = await ChatWorld.open();
    const talk = world.talk([], { columns: 200 });
    await talk.say("/model fake:fake-smal");
    await talk.shows(`There is no model "fake:fake-smal"`);
    await talk.shows(`Did you mean "fake:fake-small"? /model lists them.`);
    await talk.say("/model");
    await talk.shows("The model is fake:fake-large.");
    await talk.shows("  fake:fake-small");
    await talk.say("/model fake:fake-small");
    await talk.shows("The model is fake:fake-small.");
    await talk.shows("\n> ");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });

  test("accepts any model without a list, and names /model when it turns out to be unknown", async () => {
    await using world = await ChatWorld.open();
    world.provider.models = undefined;
    const talk = world.talk([], { columns: 200 });
    await talk.say("/model fake:other");
    await talk.shows("The model is fake:other.");
    await talk.shows("\n> ");
    world.provider.models = ["fake-large"];
    talk.type("Hi", KEYS.enter);
    await talk.shows(`has no model "other"`);
    await talk.shows("/model lists the models");
    await talk.shows("\n> ");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });
});
