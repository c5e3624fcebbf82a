import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { connect } from "../../src/index.ts";
import { listedDefinitions } from "../../src/host/definitions/listed-definitions.ts";
import { ChatWorld } from "../fixtures/chat-world.ts";
import { failure } from "../fixtures/failure.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { addressOf, StoreWorld } from "../fixtures/store-world.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const SOON = { timeout: 60_000, interval: 50 };
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

/** A server on stdio whose tools are in a file; it reports when the file was changed. */
const SERVER = `
import { createInterface } from "node:readline";
import { readFileSync, watchFile } from "node:fs";
const file = process.argv[2];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, serverInfo: { name: "changing", version: "1" }, capabilities: { tools: { listChanged: true } } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(file, "utf8")) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: "ran " + name }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  if (answer && method !== "server/discover") send({ id, result: answer(params) });
  else send({ id, error: { code: -32601, message: "Method not found" } });
});
watchFile(file, { interval: 20 }, () => send({ method: "notifications/tools/list_changed" }));
process.stdin.on("end", () => process.exit());
`;

const tool = (name: string, description: string, properties: object = {}) => ({
  name,
  description,
  inputSchema: { type: "object", properties },
});

describe("nexus mcp changes", () => {
  let nexus: NexusWorld;
  let stores: StoreWorld;
  let script: string;
  let count = 0;
  let tools: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    nexus = await NexusWorld.open();
    stores = await StoreWorld.open("sqlite");
    script = await nexus.write("server.mjs", SERVER);
  });
  afterAll(async () => {
    await nexus[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    tools = `tools${count++}.json`;
    env = { NEXUS_DATABASE: await stores.newAddressText() };
    await list(tool("pay", "Pays a bill"), tool("read", "Reads"));
  });

  const list = (...all: object[]) => nexus.write(tools, all);
  const entry = (more: object = {}) => ({
    s: { command: process.execPath, args: [script, join(nexus.root, tools)], ...more },
  });
  const run = (...args: string[]) => nexus.run(args, { env });

  test("a changed tool of a server that is not pinned is used, and is in the list of changes after a command has read it", async () => {
    await nexus.configure(entry());
    expect(await run("mcp", "tools", "s")).toMatchObject({ code: 0, stdout: expect.stringContaining("Pays a bill") });
    expect(parsed((await run("mcp", "changes", "list", "--json")).stdout)).toEqual({ items: [] });
    await list(tool("pay", "Pays a bill, and tells everybody"), tool("read", "Reads"));
    expect(await run("mcp", "call", "s.pay")).toMatchObject({ code: 0, stdout: "ran pay\n" });
    const pending = async () => parsed((await run("mcp", "changes", "list", "--json")).stdout)["items"];
    expect(await pending()).toMatchObject([{ server: "s", kind: "tool", name: "pay", what: "changed" }]);
    // The list that was compared is not compared again: it stays known as it is, and another change is noticed.
    await run("mcp", "tools", "s");
    await list(tool("pay", "Pays a bill, and tells everybody"), tool("read", "Reads it all"));
    await run("mcp", "tools", "s");
    expect(await pending()).toMatchObject([{ name: "pay" }, { name: "read" }]);
  });

  test("a changed tool of a server that is not pinned is also in the list of changes after a chat has read it", async () => {
    await using world = await ChatWorld.open({ servers: entry() });
    const chat = async () => {
      world.provider.script({ text: "Hello." });
      expect(await world.chat(["-p", "Hi"], { env })).toMatchObject({ code: 0 });
    };
    const pending = async () =>
      parsed((await world.nexus.run(["mcp", "changes", "list", "--json"], { env })).stdout)["items"];
    await chat();
    expect(await pending()).toEqual([]);
    await list(tool("pay", "Pays a bill, and tells everybody"), tool("read", "Reads"));
    await chat();
    expect(await pending()).toMatchObject([{ server: "s", kind: "tool", name: "pay", what: "changed" }]);
  });

  test("a changed tool of a server that is not pinned is also in the list of changes after serve --stdio has read it", async () => {
    await nexus.configure(entry());
    const serve = async () => {
      const { home: HOME, project: cwd } = nexus;
      const variables = { ...env, HOME, USERPROFILE: HOME };
      await using client = await connect({
        command: process.execPath,
        args: [PROGRAM, "serve", "--stdio"],
        env: variables,
        cwd,
      });
      await client.listTools();
    };
    const pending = async () => parsed((await run("mcp", "changes", "list", "--json")).stdout)["items"];
    await serve();
    expect(await pending()).toEqual([]);
    await list(tool("pay", "Pays a bill, and tells everybody"), tool("read", "Reads"));
    await serve();
    expect(await pending()).toMatchObject([{ server: "s", kind: "tool", name: "pay", what: "changed" }]);
  });

  test("a pinned server's changed tool is not listed or called on the command line until it is accepted (B4)", async () => {
    const added = await run(
      "mcp",
      "add",
      "s",
      "--pin",
      "--force",
      "--",
      process.execPath,
      script,
      join(nexus.root, tools),
    );
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("2 tools") });
    expect(await run("mcp", "call", "s.pay")).toMatchObject({ code: 0, stdout: "ran pay\n" });
    expect(await run("mcp", "changes", "list")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "Nothing has changed.\n",
    });
    expect(parsed((await run("mcp", "changes", "list", "--json")).stdout)).toEqual({ items: [] });

    await list(tool("pay", "Pays a bill \u202eand more", { to: { type: "string" } }), tool("read", "Reads"));
    const listed = await run("mcp", "tools", "s");
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining("1 tool held until accepted") });
    expect(listed.stdout).not.toContain("pay");
    for (const args of [
      ["mcp", "call", "s.pay"],
      ["mcp", "tools", "s", "--name", "pay"],
      ["mcp", "request", "s", "tools/call", '{"name":"pay"}'],
    ]) {
      const refused = await run(...args);
      expect(refused, args.join(" ")).toMatchObject({ code: 8, stdout: "" });
      expect(refused.stderr).toContain("nexus mcp changes accept s.pay");
    }
    expect(await run("mcp", "call", "s.read")).toMatchObject({ code: 0 });

    expect(await run("mcp", "changes", "list")).toMatchObject({
      stdout: expect.stringMatching(/^s\.pay +tool +changed /),
    });
    const chosen = ["--database", env["NEXUS_DATABASE"] ?? ""];
    for (const args of [["list"], ["show", "s.pay"]]) {
      const { stderr } = await run("mcp", "changes", ...args, ...chosen);
      expect(stderr).toMatch(/nexus mcp changes accept \S+ --database /);
    }
    const shown = await run("mcp", "changes", "show", "s.pay");
    expect(shown.stdout).toContain("- Pays a bill\n    + Pays a bill \\u202eand more\n");
    expect(shown.stdout).toContain('argument to (added)\n    + {"type":"string"}\n');
    const { items, hash } = parsed((await run("mcp", "changes", "show", "s.pay", "--json")).stdout);
    expect(items).toMatchObject([
      { what: "changed", accepted: { name: "pay" }, differences: [{ place: "description" }, {}] },
    ]);

    const [, command = ""] = /To accept it: nexus (.+)/.exec(shown.stderr) ?? [];
    expect(command).toBe(`mcp changes accept s.pay --hash ${String(hash)}`);
    expect(await run(...command.split(" "))).toMatchObject({ code: 0, stdout: "Accepted: s.pay (tool changed)\n" });
    expect(await run("mcp", "call", "s.pay")).toMatchObject({ code: 0 });
    expect(await run("mcp", "changes", "accept", "s.pay")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "s.pay has not changed: there is nothing to accept.\n",
    });
    expect(await run("mcp", "changes", "show", "s.pay")).toMatchObject({
      code: 0,
      stdout: "s.pay is as it was accepted.\n",
    });
  });

  test("what a server changes after it was shown is not accepted with the hash that was shown", async () => {
    const key = randomBytes(32).toString("base64");
    const store = await stores.openStore({
      address: addressOf(env["NEXUS_DATABASE"] ?? ""),
      masterKey: stores.keyIn("own", { NEXUS_MASTER_KEY: key }),
    });
    env["NEXUS_MASTER_KEY"] = key;
    const ledger = store.ledger("default");
    const listed = (description: string) => {
      const definitions = listedDefinitions("tools", [tool("pay", description), tool("read", description)]);
      return ledger.compare({ server: "s", kind: "tools", isCommon: true, isPinned: true, definitions });
    };
    for (const description of ["Pays", "Pays a bill"]) await listed(description);
    const { hash } = parsed((await run("mcp", "changes", "show", "s.pay", "--json")).stdout);
    await listed("Pays, and sends the secrets");
    expect(await run("mcp", "changes", "accept", "s.pay", "--hash", String(hash))).toMatchObject({
      code: 8,
      stdout: "",
      stderr: expect.stringContaining("s.pay has changed again, and was not accepted"),
    });
    expect(await store.definitions("default").pending()).toMatchObject([{ name: "pay" }, { name: "read" }]);
    const now = parsed((await run("mcp", "changes", "show", "s.pay", "--json")).stdout);
    expect(await run("mcp", "changes", "accept", "s.pay", "--hash", String(now["hash"]))).toMatchObject({ code: 0 });
    expect(await store.definitions("default").pending()).toMatchObject([{ name: "read" }]);
  });

  test("commands about servers that are not pinned open no store", async () => {
    await nexus.configure(entry());
    env = { NEXUS_DATABASE: "file:/dev/null/nothing.db" };
    expect(await run("mcp", "call", "s.pay")).toMatchObject({ code: 0 });
    await nexus.configure(entry({ pin: true }));
    const refused = await run("mcp", "call", "s.pay");
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining("could not be compared") });
  });

  test.each<[number, string, string[]]>([
    [6, `There is no tool "s.nothing"`, ["show", "s.nothing"]],
    [6, `There is no server "other"`, ["show", "other.pay"]],
    [6, `There is no server "other"`, ["list", "--server", "other"]],
    [6, `There is no prompt "s/prompts/pay"`, ["accept", "s/prompts/pay"]],
    [6, "Write server.tool", ["show", "pay"]],
    [6, `There is no tenant "shop"`, ["list", "--tenant", "shop"]],
    [2, "Say what to accept", ["accept"]],
    [2, "--hash is for one name", ["accept", "--all", "--hash", "0"]],
    [2, "names and --all exclude each other", ["accept", "s.pay", "--all"]],
    [2, "--server and --all exclude each other", ["accept", "--server", "s", "--all"]],
  ])("exit code %i: %s", async (code, message, args) => {
    await nexus.configure(entry({ pin: true }));
    await run("mcp", "tools", "s");
    expect(await run("mcp", "changes", ...args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  test('a wrong pin is an error of its own entry, and "nexus mcp changes" lists its commands', async () => {
    await nexus.configure(entry({ pin: "yes" }));
    expect(await run("mcp", "tools", "s")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`"pin" must be true, false or a list`),
    });
    const { stdout } = await run("mcp", "changes", "--help");
    for (const name of ["list", "show", "accept"]) expect(stdout).toContain(`mcp changes ${name}`);
  });

  test("a running gateway reports a change once, holds it, and serves it within a second after it is accepted (B4)", async () => {
    await nexus.configure(entry({ pin: ["pay"] }));
    const { child, output } = nexus.start(["serve", "--port", "0", "--json"], { env });
    const url = await vi.waitFor(() => String(parsed(output.stdout)["url"]), SOON);
    await using client = await connect({ url });
    const names = async () => (await client.listTools({ fresh: true })).map(({ name }) => name);
    expect(await names()).toEqual(["s__pay", "s__read"]);
    await list(tool("pay", "Pays all"), tool("read", "Reads all"));
    await vi.waitFor(async () => expect(await names()).toEqual(["s__read"]), SOON);
    const refused = await failure(client.callTool("s__pay", {}));
    expect(refused).toMatchObject({ details: { rpc: { data: { code: "DEFINITION_CHANGED", server: "s" } } } });
    // The command to accept it is for the operator alone, who finds it in the log.
    expect(JSON.stringify(refused.details.rpc)).not.toContain("nexus mcp");
    expect(output.stderr).toContain("nexus mcp changes accept s.pay");
    const logs = () => output.stderr.split("\n").filter((line) => line.includes('"what":"changed"'));
    expect(logs().map((line) => parsed(line)["log"] as object)).toMatchObject([
      { level: "warn", server: "s", kind: "tool", name: "pay", what: "changed" },
      { level: "warn", server: "s", kind: "tool", name: "read", what: "changed" },
    ]);
    const accepted = await run("mcp", "changes", "accept", "--all", "--json");
    expect(parsed(accepted.stdout)["accepted"]).toMatchObject([{ name: "pay" }, { name: "read" }]);
    await vi.waitFor(async () => expect(await names()).toEqual(["s__pay", "s__read"]), SOON);
    expect(await client.callTool("s__pay", {})).toMatchObject({ content: [{ text: "ran pay" }] });
    expect(logs()).toHaveLength(2);
    child.kill("SIGKILL");
  });
});
