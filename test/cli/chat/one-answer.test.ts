import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatWorld, textsOf } from "../../fixtures/chat-world.ts";
import { ANTHROPIC_FAILURES } from "../../fixtures/providers/anthropic-fake.ts";
import { OPENAI_FAILURES } from "../../fixtures/providers/openai-fake.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { packageBin } from "../../interop/server-process.ts";

const everything = { everything: stdioFixture() };

function filesIn(folder: string) {
  return { command: process.execPath, args: [packageBin("@modelcontextprotocol/server-filesystem"), folder] };
}

test("chat -p prints the answer of the model, and nothing else on stdout", async () => {
  await using world = await ChatWorld.open();
  world.provider.script({ text: ["Hello ", "**Ada**."] });
  expect(await world.chat(["-p", "Hi"])).toEqual({ code: 0, stdout: "Hello **Ada**.\n", stderr: "" });
});

test.each(["anthropic", "openai-compatible"] as const)(
  "N10: a model over %s calls several tools at once and answers with their results",
  async (protocol) => {
    await using world = await ChatWorld.open({ servers: everything, protocol });
    const calls = [
      { name: "mcp__everything__echo", arguments: { text: "one" } },
      { name: "mcp__everything__add_numbers", arguments: { a: 2, b: 3 } },
    ];
    world.provider.script({ text: "I look.", calls }, { text: "It is 5." });
    const { code, json } = await world.answer("Add 2 and 3");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      text: "It is 5.",
      steps: [
        { server: "everything", tool: "echo", arguments: { text: "one" }, outcome: "ok" },
        { server: "everything", tool: "add_numbers", arguments: { a: 2, b: 3 }, outcome: "ok" },
      ],
      usage: { inputTokens: 20, outputTokens: 10 },
      cost: null,
      stopReason: "end",
    });
    expect(Object.keys(json)).toEqual(["text", "steps", "usage", "cost", "session", "stopReason"]);
    expect(textsOf(world.provider.asked[1])).toContain("one");
  },
);

test("tool calls are lines on stderr, and in a pipe only the last answer is printed", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  const calls = [{ name: "mcp__everything__echo", arguments: { text: "hi\u001b[2J" } }];
  world.provider.script({ text: "First I look.", calls }, { text: "# Done" });
  const { stdout, stderr } = await world.chat(["-p", "x"]);
  expect(stdout).toBe("# Done\n");
  expect(stderr).toMatch(/^→ everything\.echo text=hi\S*2J: ok, \d+ ms, \d+ B\n$/);
  expect(stderr).not.toContain("\u001b");
});

test("R8: a tool that is not read-only is denied where nobody can be asked, and the model is told", async () => {
  await using world = await ChatWorld.open();
  const { project } = world.nexus;
  await world.nexus.write("home/.nexus/mcp.json", {
    ...(JSON.parse(await world.nexus.read("home/.nexus/mcp.json")) as object),
    mcpServers: { files: filesIn(project) },
  });
  const path = join(project, "a.txt");
  const write = { name: "mcp__files__write_file", arguments: { path, content: "text" } };
  world.provider.script({ calls: [write] }, { text: "Not written." });
  const denied = await world.answer("Write");
  expect(denied).toMatchObject({ code: 0, json: { steps: [{ outcome: "denied" }], stopReason: "end" } });
  expect(textsOf(world.provider.asked[1])).toContain("--allow files.write_file");
  await expect(readFile(path)).rejects.toThrow();

  world.provider.script({ calls: [write] }, { text: "Written." });
  expect((await world.answer("Write", "--allow", "files.write*")).json.steps).toMatchObject([{ outcome: "ok" }]);
  expect(await readFile(path, "utf8")).toBe("text");

  world.provider.script({ calls: [write] }, { text: "Written." });
  expect((await world.answer("Write", "--yes")).json.steps).toMatchObject([{ outcome: "ok" }]);

  for (const flags of [
    ["--yes", "--read-only"],
    ["--yes", "--deny", "files.write_file"],
  ]) {
    world.provider.script({ calls: [write] }, { text: "No such tool." });
    const { json } = await world.answer("Write", ...flags);
    expect(json.steps).not.toMatchObject([{ outcome: "ok" }]);
    const offered = world.provider.asked.at(-2)?.body.tools?.map((tool) => tool["name"]);
    expect(offered).toContain("mcp__files__read_text_file");
    expect(offered).not.toContain("mcp__files__write_file");
  }
});

test("arguments that do not fit the schema are never sent", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  world.provider.script({ calls: [{ name: "mcp__everything__add_numbers", arguments: { a: "two" } }] }, { text: "?" });
  const message: unknown = expect.stringContaining("missing property b");
  expect((await world.answer("Add")).json.steps).toMatchObject([{ tool: "add_numbers", outcome: "error", message }]);
});

test("--max-steps and --budget stop a turn with exit code 0", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  world.provider.fallback = { text: "again", calls: [{ name: "mcp__everything__echo", arguments: { text: "x" } }] };
  const steps = await world.answer("Loop", "--max-steps", "2");
  expect(steps).toMatchObject({ code: 0, json: { stopReason: "steps" } });
  expect(steps.json.steps).toHaveLength(2);
  expect(await world.answer("Loop", "--budget", "20")).toMatchObject({ code: 0, json: { stopReason: "budget" } });
  expect((await world.chat(["-p", "Loop", "--max-steps", "1"])).stderr).toMatch(
    /the limit of --max-steps is reached\. To go on: nexus chat --resume [a-z0-9]{6}/,
  );
  for (const wrong of [
    ["--max-steps", "0"],
    ["--budget", "many"],
  ])
    expect((await world.chat(["-p", "x", ...wrong])).code).toBe(2);
});

test("without a terminal, stdin is the message; -p - reads it as well; an empty one says what to do", async () => {
  await using world = await ChatWorld.open();
  expect(await world.chat([], { stdin: "From a pipe" })).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(await world.chat(["-p", "-"], { stdin: "From a dash" })).toMatchObject({ code: 0 });
  expect(textsOf(world.provider.asked[0])).toContain("From a pipe");
  expect(textsOf(world.provider.asked[1])).toContain("From a dash");
  const empty = await world.chat([]);
  expect(empty.code).toBe(2);
  expect(empty.stderr).toContain(`Use -p "TEXT"`);
});

test("what a shell pipes to chat -p is added to the message", async () => {
  await using world = await ChatWorld.open();
  const ran = await world.nexus.shell(`echo "disk full" | $NEXUS chat -p "What failed?"`);
  expect(ran).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(textsOf(world.provider.asked[0])).toMatch(/What failed\?.*Text from standard input.*disk full/);
});

test("a program that leaves the input of chat -p open gets an answer", async () => {
  await using world = await ChatWorld.open();
  const { child, output } = world.nexus.start(["chat", "-p", "Hi"]);
  await expect.poll(() => child.exitCode, { timeout: 20_000 }).toBe(0);
  expect(output.stdout).toBe("Done.\n");
});

test("a server that does not start is one warning line, and the chat goes on", async () => {
  await using world = await ChatWorld.open({ servers: { ...everything, broken: { command: "no-such-program-here" } } });
  const { code, stdout, stderr } = await world.chat(["-p", "Hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toMatch(/^warning: server "broken" is not used: .*no-such-program-here.*\n$/);
});

test("with --json, servers that did not start are warnings; if all that were named failed, the model is not asked", async () => {
  await using world = await ChatWorld.open({ servers: { ...everything, broken: { command: "no-such-program-here" } } });
  const { code, json } = await world.answer("Hi");
  expect({ code, json }).toMatchObject({
    code: 0,
    json: { text: "Done.", warnings: [{ server: "broken", error: { code: "COMMAND_NOT_FOUND" } }] },
  });
  expect((await world.answer("Hi", "--server", "broken", "--server", "everything")).code).toBe(0);
  const asked = world.provider.asked.length;
  const alone = await world.answer("Hi", "--server", "broken");
  expect({ code: alone.code, stdout: alone.stdout }).toEqual({ code: 4, stdout: "" });
  expect(JSON.parse(alone.stderr)).toMatchObject({ error: { code: "COMMAND_NOT_FOUND" } });
  expect(world.provider.asked).toHaveLength(asked);
});

test("--server limits the servers, and an unknown one is refused with what was probably meant", async () => {
  await using world = await ChatWorld.open({ servers: { ...everything, other: stdioFixture() } });
  await world.answer("Hi", "--server", "other");
  const names = world.provider.asked[0]?.body.tools?.map((tool) => String(tool["name"])) ?? [];
  expect(names.some((name) => name.startsWith("mcp__other__"))).toBe(true);
  expect(names.some((name) => name.startsWith("mcp__everything__"))).toBe(false);
  const unknown = await world.chat(["-p", "Hi", "--server", "othr"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain("other");
});

test("a server that is shared with other agents only is not seen by the chat", async () => {
  const servers = { mine: { ...stdioFixture(), agents: ["chat"] }, theirs: { ...stdioFixture(), agents: ["robot"] } };
  await using world = await ChatWorld.open({ servers });
  await world.answer("Hi");
  const names = world.provider.asked[0]?.body.tools?.map((tool) => String(tool["name"])) ?? [];
  expect(names.some((name) => name.startsWith("mcp__mine__"))).toBe(true);
  expect(names.some((name) => name.startsWith("mcp__theirs__"))).toBe(false);
});

test.each([
  {
    what: "a refused key",
    answer: { status: 401, body: { type: "error", error: { type: "authentication_error", message: "no" } } },
    code: 8,
  },
  { what: "a provider that fails", answer: { status: 501, body: "down" }, code: 4 },
  { what: "a context that is too long", answer: ANTHROPIC_FAILURES.contextTooLong(), code: 5 },
  { what: "refused content", answer: ANTHROPIC_FAILURES.refusedContent(), code: 5 },
  { what: "a stream that breaks", answer: { text: ["a", "b", "c"], breakAfter: 5 }, code: 4 },
  { what: "a provider that is silent", answer: "never" as const, code: 7, flags: ["--timeout", "1s"] },
  {
    what: "a limit with a longer wait than --timeout",
    answer: ANTHROPIC_FAILURES.rateLimited({ "retry-after": "600" }),
    code: 4,
    flags: ["--timeout", "2s"],
  },
])(
  "exit code $code for $what, with the result on stdout and the error on stderr",
  async ({ answer, code, flags = [] }) => {
    await using world = await ChatWorld.open();
    world.provider.fallback = answer;
    const ran = await world.answer("Hi", ...flags);
    expect(ran.code, ran.stderr).toBe(code);
    expect(ran.json).toMatchObject({ steps: [], stopReason: "error" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { message: expect.any(String) as string } });
  },
);

test("exit code 6 for an unknown model, 3 without any model, 4 for a provider that is not there", async () => {
  await using world = await ChatWorld.open();
  const unknown = await world.chat(["-p", "Hi", "--model", "fake:fake-lrge"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain("fake-large");
  // Nothing was answered, so there is nothing to resume.
  expect((await world.chat(["--list", "--json"])).stdout).toBe(`{"items":[],"errors":[]}\n`);
  expect((await world.chat(["-p", "Again", "--resume"])).code).toBe(6);
  await world.nexus.write("home/none.json", { mcpServers: {} });
  const none = await world.chat(["-p", "Hi", "--config", join(world.nexus.home, "none.json")]);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain("ANTHROPIC_API_KEY");
  await world.provider.close();
  expect((await world.chat(["-p", "Hi", "--timeout", "3s"])).code).toBe(4);
});

test("a limit of the provider is waited for, and said", async () => {
  await using world = await ChatWorld.open({ protocol: "openai-compatible" });
  world.provider.script(OPENAI_FAILURES.rateLimited({ "retry-after": "0" }));
  const { code, stdout, stderr } = await world.chat(["-p", "Hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain("waiting");
});

test.runIf(process.platform !== "win32")("SIGINT cancels the calls, saves the chat and exits with 130", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  world.provider.script({
    text: "I sleep.",
    calls: [{ name: "mcp__everything__sleep", arguments: { ms: 3_600_000 } }],
  });
  const { child, output } = world.nexus.start(["chat", "-p", "Sleep", "--json", "--yes"]);
  await expect.poll(() => world.provider.asked.length, { timeout: 20_000 }).toBe(1);
  await world.provider.asked[0]?.closed;
  child.kill("SIGINT");
  await expect.poll(() => child.exitCode, { timeout: 20_000 }).toBe(130);
  const json = JSON.parse(output.stdout) as { stopReason: string; session: string };
  expect(json).toMatchObject({ stopReason: "cancelled" });
  world.provider.script({ text: "Good morning." });
  const resumed = await world.answer("Are you there?", "--resume", json.session);
  expect(resumed.json).toMatchObject({ text: "Good morning.", session: json.session });
  expect(textsOf(world.provider.asked.at(-1))).toContain("Are you there?");
});

test("chats are saved and resumed: alone the newest one, listed with --list", async () => {
  await using world = await ChatWorld.open();
  const first = await world.answer("My name is Ada.");
  const second = await world.answer("My name is Bob.");
  const resumed = await world.answer("Who am I?", "--resume");
  expect(resumed.json.session).toBe(second.json.session);
  expect(textsOf(world.provider.asked.at(-1))).toContain("Bob");
  expect(textsOf(world.provider.asked.at(-1))).not.toContain("Ada");
  const again = await world.answer("Who am I?", "--resume", first.json.session ?? "");
  expect(again.json.session).toBe(first.json.session);
  expect(textsOf(world.provider.asked.at(-1))).toContain("Ada");

  const list = JSON.parse((await world.chat(["--list", "--json"])).stdout) as {
    items: { id: string; title: string }[];
  };
  expect(list.items.map(({ title }) => title)).toEqual(["My name is Ada.", "My name is Bob."]);
  expect((await world.chat(["--list"])).stdout).toContain(first.json.session);

  const unknown = await world.chat(["-p", "x", "--resume", "nosuch"]);
  expect(unknown.code).toBe(6);
  const folder = join(world.nexus.home, ".local/state/nexus/chats");
  await world.nexus.write(`home/.local/state/nexus/chats/${first.json.session}.json`, "{");
  const damaged = await world.chat(["-p", "x", "--resume", first.json.session ?? ""]);
  expect(damaged.code).toBe(10);
  expect(damaged.stderr).toContain(join(folder, `${first.json.session}.json`));
});

test("N11: resources with a high priority are context when the configuration says so", async () => {
  await using world = await ChatWorld.open({
    servers: { docs: stdioFixture() },
    more: { context: { resources: "auto", minPriority: 0, budget: "16kB" } },
  });
  await world.answer("Hi");
  expect(textsOf(world.provider.asked[0])).toContain("resource");
  await using other = await ChatWorld.open({ more: { context: { resource: "auto" } } });
  const wrong = await other.chat(["-p", "Hi"]);
  expect(wrong.code).toBe(3);
  expect(wrong.stderr).toContain("resources");
});

test("N8: a server's sampling is answered by the model only where it is allowed", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  const calls = [{ name: "mcp__everything__test_sampling", arguments: { prompt: "a poem" } }];
  world.provider.script({ calls }, { text: "Roses." }, { text: "Here it is." });
  const allowed = await world.answer("Sample", "--yes", "--allow-sampling", "everything");
  expect(allowed.json).toMatchObject({ text: "Here it is.", steps: [{ outcome: "ok" }] });
  expect(textsOf(world.provider.asked[1])).toContain("a poem");
  expect(textsOf(world.provider.asked[1])).not.toContain("Sample");
  expect(textsOf(world.provider.asked[2])).toContain("Roses.");

  world.provider.script({ calls }, { text: "No." });
  const refused = await world.answer("Sample", "--yes");
  expect(refused.json.steps[0]?.outcome).not.toBe("ok");
  expect(world.provider.asked).toHaveLength(5);

  world.provider.script({ calls }, { text: "No." });
  const people = await world.chat(["-p", "Sample", "--yes"]);
  expect(people.stderr).toContain(
    `warning: The request of server "everything" to use the model was declined: there is no person to ask. To allow it: --allow-sampling everything`,
  );
  const form = [{ name: "mcp__everything__test_elicitation", arguments: { message: "Your name?" } }];
  world.provider.script({ calls: form }, { text: "No." });
  const declined = await world.chat(["-p", "Ask", "--yes"]);
  expect(declined.stderr).toContain("Run nexus chat at a terminal to answer it");
  expect(textsOf(world.provider.asked.at(-1))).toContain("decline");
});

test("R3: a hint of a server's sampling chooses among the models that the provider lists", async () => {
  await using world = await ChatWorld.open({ servers: everything });
  const calls = [{ name: "mcp__everything__test_sampling", arguments: { prompt: "a poem", hint: "Small" } }];
  world.provider.models = ["fake-large", "fake-small-2026", "fake-small"];
  world.provider.script({ calls }, { text: "Roses." }, { text: "Here it is." });
  const { json } = await world.answer("Sample", "--yes", "--allow-sampling", "everything");
  expect(json).toMatchObject({ text: "Here it is.", steps: [{ outcome: "ok" }] });
  expect(world.provider.asked.map(({ body }) => body["model"])).toEqual(["fake-large", "fake-small", "fake-large"]);
});

test.runIf(process.platform !== "win32")(
  "SIGINT before any answer saves the message, and a resumed chat knows it",
  async () => {
    await using world = await ChatWorld.open();
    world.provider.script("never");
    const { child, output } = world.nexus.start(["chat", "-p", "The code is 4711.", "--json"]);
    await expect.poll(() => world.provider.asked.length, { timeout: 20_000 }).toBe(1);
    child.kill("SIGINT");
    await expect.poll(() => child.exitCode, { timeout: 20_000 }).toBe(130);
    const { stopReason, session } = JSON.parse(output.stdout) as { stopReason: string; session: string };
    expect(stopReason).toBe("cancelled");
    await world.answer("What is the code?", "--resume", session);
    expect(textsOf(world.provider.asked.at(-1))).toContain("The code is 4711.");
  },
);

test.runIf(process.platform !== "win32")("SIGINT while standard input is read ends the program with 130", async () => {
  await using world = await ChatWorld.open();
  const { child, output } = world.nexus.start(["chat"]);
  // More than the pipe holds: when it is written, the program reads.
  await new Promise((resolve) => child.stdin?.write("x".repeat(2_000_000), resolve));
  child.kill("SIGINT");
  await expect.poll(() => child.exitCode, { timeout: 20_000 }).toBe(130);
  expect(output.stdout).toBe("");
  expect(world.provider.asked).toHaveLength(0);
});

test("an empty answer is said", async () => {
  await using world = await ChatWorld.open();
  world.provider.script({ text: "" });
  const { code, stdout, stderr } = await world.chat(["-p", "Hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("The model gave an empty answer.");
});

test("a state folder that cannot be used is an error with a fix, and a chat that is not saved has no session", async () => {
  await using world = await ChatWorld.open();
  const XDG_STATE_HOME = await world.nexus.write("home/not-a-folder", "a file");
  const env = { XDG_STATE_HOME };
  for (const args of [
    ["chat", "--list"],
    ["chat", "--resume", "-p", "Hi"],
    ["consent", "list"],
  ]) {
    const { code, stderr } = await world.nexus.run(args, { env });
    expect(code).toBe(8);
    expect(stderr).toMatch(/cannot be read \(ENOTDIR\)[^]*fix: /);
  }
  const { code, stdout, stderr } = await world.chat(["-p", "Hi", "--json"], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ text: "Done.", session: null });
});
