import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { ChatWorld, KEYS, textsOf } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { packageBin } from "../../interop/server-process.ts";

const PROGRAM = packageBin("@modelcontextprotocol/server-everything");
const reference = { command: process.execPath, args: [PROGRAM, "stdio"], roots: [pathToFileURL("/tmp").href] };

function call(tool: string, args: object = {}) {
  return { calls: [{ name: `mcp__reference__${tool}`, arguments: args }] };
}

describe.runIf(HAS_TERMINAL)("the public server-everything asks during a chat at a terminal", () => {
  test("N8, R3: sampling is shown before it runs, can be edited, and its answer can be reviewed", async () => {
    await using world = await ChatWorld.open({ servers: { reference } });
    const sample = call("trigger-sampling-request", { prompt: "a secret poem", maxTokens: 50 });
    world.provider.script(sample, { text: "Roses are red." }, { text: "Here it is." });
    const talk = world.talk(["--allow", "reference.*"]);
    await talk.say("Sample");
    const question = await talk.shows("Allow?");
    expect(question).toContain("reference wants to use fake:fake-large (at most 50 tokens):");
    expect(question).toContain("a secret poem");
    talk.type("e", KEYS.enter);
    await talk.shows("system: ");
    talk.type(KEYS.enter);
    await talk.shows("user: ");
    talk.type(", without names", KEYS.enter);
    await talk.shows("Allow?");
    talk.type("r", KEYS.enter);
    await talk.shows("Roses are red.");
    await talk.shows("Send it?");
    talk.type("y", KEYS.enter);
    await talk.shows("trigger-sampling-request");
    await talk.shows("Here it is.");
    expect(textsOf(world.provider.asked[1])).toContain("a secret poem, without names");
    expect(world.provider.asked[1]?.body["max_tokens"]).toBe(50);

    world.provider.script(sample, { text: "As you like." });
    await talk.say("Again");
    await talk.shows("Allow?");
    talk.type("n", KEYS.enter);
    await talk.shows("was declined");
    await talk.shows("As you like.");
    talk.type(KEYS.ctrlD);
    await talk.ended();
  });

  test("R5: elicitation is a form, and R4: roots come from the configuration", async () => {
    await using world = await ChatWorld.open({ servers: { reference } });
    world.provider.script(call("trigger-elicitation-request"), { text: "Thank you." }, call("get-roots-list"), {
      text: "I see.",
    });
    const talk = world.talk(["--yes"]);
    await talk.say("Ask me");
    await talk.shows("reference asks:");
    // A description of this form names things that must not be asked for.
    if ((await talk.showsOneOf(`Type "yes"`, "name: ")) !== "name: ") {
      talk.type("yes", KEYS.enter);
      await talk.shows("name: ");
    }
    talk.type("Ada", KEYS.enter);
    // The other fields are optional or have defaults.
    while ((await talk.showsOneOf("trigger-elicitation-request: ", ": ")) === ": ") talk.type(KEYS.enter);
    await talk.shows("Thank you.");
    expect(textsOf(world.provider.asked[1])).toContain("Ada");
    await talk.say("Roots?");
    await talk.shows("I see.");
    expect(textsOf(world.provider.asked[3])).toContain("file:///tmp");
    talk.type(KEYS.ctrlD);
    await talk.ended();
  });
});

test.runIf(HAS_TERMINAL)("R5: a page is shown with its host before anything is opened", async () => {
  await using world = await ChatWorld.open({ servers: { reference: stdioFixture() } });
  world.provider.script(call("elicit_url", { url: "https://example.test/sign?in=1" }), { text: "Done with it." });
  const talk = world.talk(["--yes"]);
  await talk.say("Visit");
  await talk.shows("host:    example.test");
  await talk.shows("y/n");
  // What is typed together with the answer waits at the prompt.
  talk.type(`n${KEYS.enter}And then`);
  await talk.shows("Done with it.");
  await talk.shows("> And then");
  talk.type(KEYS.enter);
  await talk.shows("Done.");
  expect(textsOf(world.provider.asked[2])).toContain("And then");
  talk.type(KEYS.ctrlD);
  await talk.ended();
});
