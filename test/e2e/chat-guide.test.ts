import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ChatTalk, KEYS } from "../fixtures/chat-world.ts";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { openOpenAiFake } from "../fixtures/providers/openai-fake.ts";
import type { FakeAnswer, ProviderFake } from "../fixtures/providers/provider-fake.ts";
import { runShown, shownPattern, shownSessions } from "../fixtures/shown-commands.ts";
import { booking, STAY } from "../workshop/capcorn/capcorn-stay.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = await readFile(join(root, "docs/guide/chat.md"), "utf8");
const [, configuration = ""] = /^```json\n([\s\S]*?)^```/m.exec(guide) ?? [];
const [, transcript = ""] = /^```text\n([\s\S]*?)^```/m.exec(guide) ?? [];

const add = { calls: [{ name: "mcp__demo__add", arguments: { a: 20, b: 22 } }] };
const rooms = [{ adults: 2, childAges: [3] }];
const search = { calls: [{ name: "mcp__capcorn__availability_search", arguments: { ...STAY, rooms } }] };
const reserve = [{ name: "mcp__capcorn__create_reservation", arguments: booking({ extras: [] }) }];

/** What the model answers to the commands of the guide, in their order. */
const SCRIPT: FakeAnswer[] = [
  add,
  { text: "20 + 22 is **42**." },
  { text: "The disk is full." },
  { text: "Hello." },
  add,
  { text: "42" },
  search,
  { calls: reserve },
  { text: "The room is free, but I may not book it." },
  { text: "I added two numbers." },
];

/** A home folder with the configuration of the guide as it is; only the model is a fake. The guide's commands add the server. */
async function openHome(provider: ProviderFake): Promise<NexusWorld> {
  const nexus = await NexusWorld.open();
  await nexus.write("home/.nexus/mcp.json", configuration.replace("http://127.0.0.1:11434", provider.url));
  provider.key = undefined;
  provider.models = ["qwen3"];
  return nexus;
}

test.runIf(process.platform !== "win32")("N14: the commands of the chat guide do what it shows", async () => {
  await using provider = await openOpenAiFake();
  await using nexus = await openHome(provider);
  provider.script(...SCRIPT);
  const sessions = shownSessions(guide);
  expect(sessions.length).toBeGreaterThan(6);
  for (const { command: line, output } of sessions) {
    const [command = "", exitCode = "0"] = line.split(/ +# exit code /);
    const ran = await runShown(command, { root, home: nexus.home });
    expect(ran, `${command}\n${ran.output}`).toMatchObject({ code: Number(exitCode) });
    expect(ran.output.trimEnd(), command).toMatch(shownPattern(output));
  }
});

test("N14: a server that --server names has exit code 4 if it does not start, and 7 if it does not connect in time", async () => {
  await using provider = await openOpenAiFake();
  await using nexus = await openHome(provider);
  const file = await nexus.write("servers.json", {
    ...(JSON.parse(configuration) as object),
    mcpServers: {
      gone: { command: process.execPath, args: ["-e", "process.exit(1)"] },
      slow: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] },
    },
  });
  const exitCode = async (server: string, timeout: string) =>
    (await nexus.run(["chat", "-p", "Hi", "--server", server, "--timeout", timeout, "--config", file])).code;
  expect(await exitCode("gone", "20s")).toBe(4);
  expect(await exitCode("slow", "500ms")).toBe(7);
});

test.runIf(HAS_TERMINAL)("N14: the chat of the guide at a terminal shows what the guide shows", async () => {
  await using provider = await openOpenAiFake();
  await using nexus = await openHome(provider);
  const before = "There is a double room for 675 EUR. I book it.";
  provider.script(search, { text: before, calls: reserve }, { text: "It is booked." });
  provider.fallback = { text: "?" };
  const [first = "", ...lines] = transcript.trimEnd().split("\n");
  const talk = new ChatTalk(nexus.inTerminal(first.split(" ").slice(2), { columns: 100 }));
  for (const line of lines) {
    const [, typed] = /^> (.*)$/.exec(line) ?? [];
    const [, question, answer] = /^(Allow\?.*: )(y)$/.exec(line) ?? [];
    if (typed !== undefined) await talk.say(typed);
    else if (question !== undefined && answer !== undefined) {
      await talk.shows(question);
      talk.type(answer, KEYS.enter);
    } else for (const part of line.split("…").filter((each) => each !== "")) await talk.shows(part);
  }
  expect(await talk.ended()).toBe(0);
});
