import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as Sse1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LATEST } from "../../src/protocol/revisions.ts";
import { isFull } from "../fixtures/depth.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

/** Installed with what the conformance run needs: npm ci --prefix test/tools */
const TOOLS = fileURLToPath(new URL("../tools/node_modules/", import.meta.url));
const INSPECTOR = join(TOOLS, "@modelcontextprotocol", "inspector", "clients/launcher/build/index.js");
const INFO = { name: "interop", version: "1.0.0" };
const ADA = { action: "accept" as const, content: { name: "Ada", mood: "sunny" } };
/** A second of work for each of its commands. */
const INSPECTED = isFull ? ["/mcp", "/servers/demo/mcp", "/sse"] : ["/mcp"];
const SERVERS = ["demo", "demo-legacy"];

let world: NexusWorld;
let gateway: ChildProcess;
let url: URL;

beforeAll(async () => {
  world = await NexusWorld.open();
  gateway = world.start(["serve", "--demo", "--port", "0"]).child;
  if (!gateway.stdout) throw new Error("The gateway has no output");
  const [line] = (await once(createInterface({ input: gateway.stdout }), "line")) as [string];
  url = new URL(line.replace("listening on ", ""));
});
afterAll(async () => {
  const ended = once(gateway, "exit");
  gateway.kill();
  await ended;
  await world[Symbol.asyncDispose]();
});

describe("the SDK 2.x client of nexus serve --demo", () => {
  let client: Client2;

  beforeAll(async () => {
    client = new Client2(INFO, { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } });
    client.setRequestHandler("elicitation/create", () => ADA);
    await client.connect(new Http2(url));
  });
  afterAll(() => client?.close());

  test("speaks the newest revision with it, of its own accord (B1)", () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(LATEST);
  });

  test.each(SERVERS)("uses what %s has, and is asked by it (B1, B2)", async (server) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain(`${server}__add`);
    const sum = await client.callTool({ name: `${server}__add`, arguments: { a: 2, b: 3 } });
    expect(sum).toMatchObject({ structuredContent: { sum: 5 } });
    const greeting = await client.callTool({ name: `${server}__ask_name`, arguments: {} });
    expect(greeting).toMatchObject({ content: [{ text: "Hello, Ada! Have a sunny day." }] });
    const read = await client.readResource({ uri: `${server}+demo://welcome` });
    expect(read.contents[0]).toMatchObject({ mimeType: "text/markdown" });
    const prompt = await client.getPrompt({ name: `${server}__postcard`, arguments: { place: "Graz" } });
    expect(JSON.stringify(prompt.messages)).toContain("Graz");
  });
});

describe.each(["/mcp", "/sse"])("the SDK 1.x client of nexus serve --demo at %s", (path) => {
  let client: Client1;

  beforeAll(async () => {
    client = new Client1(INFO, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ADA);
    const place = new URL(path, url);
    await client.connect(path === "/sse" ? new Sse1(place) : new Http1(place));
  });
  afterAll(() => client?.close());

  test.each(SERVERS)("uses what %s has, and is asked by it (B1, B2)", async (server) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain(`${server}__add`);
    const sum = await client.callTool({ name: `${server}__add`, arguments: { a: 2, b: 3 } });
    expect(sum).toMatchObject({ structuredContent: { sum: 5 } });
    const greeting = await client.callTool({ name: `${server}__ask_name`, arguments: {} });
    expect(greeting).toMatchObject({ content: [{ text: "Hello, Ada! Have a sunny day." }] });
    const read = await client.readResource({ uri: `${server}+demo://welcome` });
    expect(read.contents[0]).toMatchObject({ mimeType: "text/markdown" });
    const prompt = await client.getPrompt({ name: `${server}__postcard`, arguments: { place: "Graz" } });
    expect(JSON.stringify(prompt.messages)).toContain("Graz");
  });
});

/** Where it is not installed, the title says that nothing was tried. */
const isThere = existsSync(INSPECTOR);
describe.skipIf(!isThere)(`the Inspector's command line${isThere ? "" : " (not installed: not tried)"}`, () => {
  async function inspect(path: string, ...args: string[]): Promise<unknown> {
    const child = spawn(process.execPath, [INSPECTOR, "--cli", new URL(path, url).href, ...args], {
      env: { ...process.env, HOME: world.home, USERPROFILE: world.home },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return JSON.parse(await text(child.stdout));
  }

  test.each(INSPECTED)("lists and calls at %s (B1)", async (path) => {
    const name = path.startsWith("/servers/") ? "echo" : "demo__echo";
    const { tools } = (await inspect(path, "--method", "tools/list")) as { tools: { name: string }[] };
    expect(tools.map((tool) => tool.name)).toContain(name);
    const called = await inspect(path, "--method", "tools/call", "--tool-name", name, "--tool-arg", "text=hi");
    expect(called).toMatchObject({ content: [{ type: "text", text: "hi" }] });
  });

  test("reads resources and prompts of both servers (B1)", async () => {
    const welcome = await inspect("/mcp", "--method", "resources/read", "--uri", "demo-legacy+demo://welcome");
    expect(welcome).toMatchObject({ contents: [{ mimeType: "text/markdown" }] });
    const about = ["--prompt-name", "demo__postcard", "--prompt-args", "place=Graz"];
    expect(JSON.stringify(await inspect("/mcp", "--method", "prompts/get", ...about))).toContain("Graz");
  });
});
