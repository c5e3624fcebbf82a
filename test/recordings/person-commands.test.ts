import { afterAll, beforeAll, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ChatWorld } from "../fixtures/chat-world.ts";
import type { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { Recorder } from "./recorder.ts";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const DEMO = join(PACKAGE, "dist/demo/main.js");

let world: ChatWorld;
let nexus: NexusWorld;
let recorder: Recorder;

beforeAll(async () => {
  const demo = { command: process.execPath, args: [DEMO] };
  const off = { url: "https://mcp.invalid/mcp", headers: { Authorization: "Bearer ${secret:off}" }, enabled: false };
  const some = { ...demo, tools: { allow: ["add", "echo"] }, pin: true };
  world = await ChatWorld.open({ servers: { demo, some, off, everything: stdioFixture() } });
  nexus = world.nexus;
  recorder = new Recorder(nexus);
});

afterAll(() => world[Symbol.asyncDispose]());

async function golden(name: string): Promise<void> {
  await expect(recorder.take()).toMatchFileSnapshot(`../golden/commands/${name}.txt`);
}

async function runAll(lines: string): Promise<void> {
  for (const line of lines.trim().split("\n")) await recorder.run(line.trim());
}

test("nexus mcp … --json that looks at servers is as recorded", async () => {
  await runAll(`
    mcp servers
    mcp connect demo
    mcp connect none
    mcp tools some
    mcp tools demo --grep add
    mcp tools demo --name add
    mcp tools demo --name none
    mcp resources demo
    mcp templates demo
    mcp prompts demo
    mcp ping demo
    mcp servers
    mcp explain
    mcp explain demo
    mcp explain none
    mcp retry demo
    mcp logs demo
    mcp logs none
    mcp doctor demo
    mcp doctor off
    mcp tools --no-such-option
    mcp nothing
    demo
  `);
  await golden("mcp-look");
});

test("nexus mcp … --json that uses servers is as recorded", async () => {
  await runAll(`
    mcp call demo.add a=2 b=3.5
    mcp call demo.add a=two b=3
    mcp call demo.add
    mcp call demo.none
    mcp call some.roll_dice
    mcp call demo.ask_name
    mcp call demo.ask_name --answer name=Ada
    mcp call demo.echo text=hi --repeat 2
    mcp read demo demo://welcome
    mcp read demo demo://none
    mcp prompt demo.postcard place=Vienna
    mcp prompt demo.none
    mcp complete demo --prompt postcard --arg place=L
    mcp complete demo --template demo://colours/{name} --arg name=
    mcp request demo tools/list
    mcp request demo acme/none
    mcp watch demo --count 0
  `);
  await golden("mcp-use");
});

test("nexus mcp … --json that changes a configuration is as recorded", async () => {
  await nexus.write("home/.cursor/mcp.json", { mcpServers: { theirs: { command: "theirs", env: { KEY: "x" } } } });
  await nexus.write("home/work/project/.nexus/mcp.json", { mcpServers: { shared: { command: "no-such-program" } } });
  await runAll(`
    mcp trust --show
    mcp servers
    mcp connect shared
    mcp trust --yes
    mcp trust --revoke
    mcp trust
    mcp add docs --url https://mcp.invalid/mcp --no-check
    mcp add docs --url https://mcp.invalid/mcp --no-check
    mcp add again --no-check -- node server.js --port 1
    mcp add bad --url nowhere --no-check
    mcp add here --stdio 'node server.js' --env MODE=dev --pin --disabled --no-check
    mcp add hotel --api capcorn --upstream fake
    mcp disable docs
    mcp disable docs
    mcp enable docs
    mcp remove docs
    mcp remove docs
    mcp import
    mcp import theirs --dry-run
    mcp import theirs
    mcp import none
    mcp export demo off
    mcp export demo --for codex
    mcp export none
    mcp install cursor --dry-run
    mcp install cursor
    mcp install nobody
    mcp uninstall cursor
    mcp uninstall cursor
    mcp login --list
    mcp login demo
    mcp logout demo
    completion bash
    completion none
    complete-words -- nexus mcp call de
  `);
  await golden("mcp-configure");
});

test("nexus secrets, models, consent and chat … --json are as recorded", async () => {
  await recorder.run("secrets set off", { stdin: "a value of the test\n" });
  await runAll(`
    secrets list
    secrets allow off https://mcp.invalid
    secrets allow off nowhere
    secrets list
    secrets remove off
    secrets remove off
    models list
    models test none:none
    models add local --url http://127.0.0.1:9/v1
    models add local
    consent list
    consent forget demo.add
    consent forget --all
    chat --list
    chat -p Hi --model none:none
  `);
  world.provider.script({ text: "Pong." });
  await recorder.run("models test");
  const calls = [{ name: "mcp__everything__echo", arguments: { text: "one" } }];
  world.provider.script({ text: "I look.", calls }, { text: "It is one." });
  const { session } = await recorder.read("chat -p 'Say one' --server everything");
  recorder.name(String(session), "<session>");
  await runAll(`
    chat --list
    chat --resume none -p Hi
  `);
  world.provider.script({ text: "Again." });
  await recorder.run(`chat --resume ${String(session)} -p More --server everything`);
  await golden("agent");
});

test("nexus api … --json is as recorded", async () => {
  for (const name of ["lending.openapi.yaml", "lending.graphql", "lending.wsdl"]) {
    await nexus.write(`home/work/project/${name}`, await readFile(join(PACKAGE, "docs/guide", name), "utf8"));
  }
  await nexus.write(
    "home/work/project/bad.nexus.yaml",
    "nexus: 1\napi: bad\ntitle: [x]\nversion: 1\nupstream: { base: nowhere }\ntypes: { A: { fields: { b: { type: strng } } } }\ntools: {}\n",
  );
  await runAll(`
    api import lending.openapi.yaml --dry-run
    api import lending.openapi.yaml --out lending
    api import lending.graphql --dry-run --name books
    api import none.yaml
    api check lending
    api check bad.nexus.yaml
    api check none
    api show lending
    api questions lending
    api questions lending --answer 99=x
    api diff lending
    api test lending
    api approve lending
    api approve lending --by Ada --yes
    api diff lending
    api stale lending
    api learn lending
    api writes
    api settle none --happened yes
    api check museum
    api show museum
    api test museum
    api diff museum
    api try none -p Hi
    api fake none
    api new
  `);
  await recorder.run("api new parcels --curl 'curl https://parcels.example/v1/parcels/17?units=metric'");
  await golden("api");
});
