import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ChatWorld, KEYS, textsOf } from "../../fixtures/chat-world.ts";
import { HAS_TERMINAL } from "../../fixtures/nexus.ts";
import { ANTHROPIC_FAILURES } from "../../fixtures/providers/anthropic-fake.ts";
import { ScreenModel } from "../../fixtures/screen-model.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const everything = { everything: stdioFixture() };

function call(tool: string, args: object = {}) {
  return { calls: [{ name: `mcp__everything__${tool}`, arguments: args }] };
}

describe.runIf(HAS_TERMINAL)("the prompt of a chat at a terminal", () => {
  test("takes a paste of 2,000 lines as one message, and shows only its end", async () => {
    await using world = await ChatWorld.open();
    const talk = world.talk();
    await talk.shows("\n> ");
    const lines = Array.from({ length: 2_000 }, (_, line) => `line ${line} ${"of a long text ".repeat(4)}`);
    talk.type("\u001b[200~", lines.join("\r"), "\u001b[201~");
    await talk.shows("lines above");
    for (let key = 0; key < 300; key++) talk.type("x");
    talk.type(KEYS.enter);
    await talk.shows("Done.");
    expect(textsOf(world.provider.asked[0])).toContain(`${lines.join(String.raw`\n`)}${"x".repeat(300)}`);
    // Each key draws at most one screen.
    expect(talk.raw.length).toBeLessThan(2_000_000);
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
  });

  test.each([80, 50, 25])("draws a question once at %d columns, whatever is typed", async (columns) => {
    await using world = await ChatWorld.open({ servers: everything });
    world.provider.script(call("test_sampling", { prompt: "a poem" }), { text: "Done with it." });
    const talk = world.talk(["--allow", "everything.*"], { columns });
    await talk.say("Go");
    await talk.shows("[n]o:");
    for (const typed of ["q", "qz", "qzx", "qzxj"]) {
      talk.type(typed.at(-1) ?? "");
      await talk.shows(typed);
    }
    const shown = ScreenModel.of(talk.raw, columns).rows;
    expect(shown.filter((row) => row.includes("Allow?"))).toHaveLength(1);
    expect(shown.join(" ")).toMatch(/Allow\? \[y\]es once, .*\[n\]o: *qzxj/);
    talk.type(KEYS.enter);
    await talk.shows("[n]o:");
    talk.type("n", KEYS.enter);
    await talk.shows("Done with it.");
    talk.type(KEYS.ctrlD);
    await talk.ended();
  });

  test("N8: chats at a terminal although stderr goes to a file, and asks on the terminal", async () => {
    await using world = await ChatWorld.open({ servers: everything });
    world.provider.script(call("test_sampling", { prompt: "a poem" }), { text: "Done with it." });
    const stderrTo = join(world.nexus.root, "stderr.txt");
    const talk = world.talk(["--allow", "everything.*", "--verbose"], { stderrTo });
    await talk.say("Go");
    const question = await talk.shows("[n]o:");
    expect(question).toContain("a poem");
    talk.type("n", KEYS.enter);
    await talk.shows("Done with it.");
    talk.type(KEYS.ctrlD);
    expect(await talk.ended()).toBe(0);
    expect(await readFile(stderrTo, "utf8")).not.toContain("Allow?");
  });

  test("what is typed during an answer stays to be edited, and is not sent line by line", async () => {
    await using world = await ChatWorld.open();
    world.provider.script({ text: ["A long ", "answer "], stallAfter: 5 }, { text: "Both." });
    const talk = world.talk();
    await talk.say("Hi");
    await talk.shows("A long");
    talk.type(KEYS.ctrlC, "first", KEYS.enter, "second", KEYS.enter);
    await talk.shows("second");
    expect(world.provider.asked).toHaveLength(1);
    talk.type(KEYS.enter);
    await talk.shows("Both.");
    expect(textsOf(world.provider.asked[1])).toContain(String.raw`first\nsecond`);
    talk.type(KEYS.ctrlD);
    await talk.ended();
  });

  test("after Ctrl-L, keys erase nothing but their own lines", async () => {
    await using world = await ChatWorld.open();
    const talk = world.talk();
    await talk.shows("\n> ");
    talk.type("\u000c");
    await talk.shows("> ");
    const before = talk.raw.length;
    talk.type("a", "b");
    await talk.shows("ab");
    expect(talk.raw.slice(before)).not.toContain("\u001b[J");
    expect(ScreenModel.of(talk.raw, 100).rows.filter((row) => row !== "")).toEqual(["> ab"]);
    talk.type(KEYS.ctrlC, KEYS.ctrlC, KEYS.ctrlC);
    expect(await talk.ended()).toBe(130);
  });

  test("Ctrl-C twice within two seconds during an answer ends the program, and the chat is saved", async () => {
    await using world = await ChatWorld.open();
    world.provider.script({ text: ["A long ", "answer "], stallAfter: 5 });
    const talk = world.talk();
    await talk.say("Hello");
    await talk.shows("A long");
    talk.type(KEYS.ctrlC);
    await world.provider.asked[0]?.closed;
    talk.type(KEYS.ctrlC);
    expect(await talk.ended()).toBe(130);
    const { items } = JSON.parse((await world.chat(["--list", "--json"])).stdout) as { items: { title: string }[] };
    expect(items).toMatchObject([{ title: "Hello" }]);
  });

  test("errors, warnings and help are broken between words at 50 columns", async () => {
    await using world = await ChatWorld.open({ servers: { broken: { command: "no-such-program-here" } } });
    world.provider.script(ANTHROPIC_FAILURES.noCredit());
    const talk = world.talk([], { columns: 50 });
    await talk.say("Hi");
    await talk.shows("fix:");
    await talk.shows("\n> ");
    talk.type(KEYS.ctrlD);
    await talk.ended();
    const help = world.talk(["--help"], { columns: 50 });
    await help.ended();
    const prose = talk.lines.filter((line) => !/^ {2}(?:url|response|command|try|code)/.test(line));
    for (const line of [...prose, ...(help.screen.split("Examples:")[0]?.split("\n") ?? [])]) {
      expect(line.length).toBeLessThan(50);
    }
  });

  test("a command may begin with spaces", async () => {
    await using world = await ChatWorld.open();
    const talk = world.talk();
    await talk.say("  /help");
    await talk.shows("/resource <server> <uri>");
    expect(world.provider.asked).toHaveLength(0);
    talk.type(KEYS.ctrlD);
    await talk.ended();
  });
});
