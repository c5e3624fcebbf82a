import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isFull } from "../fixtures/depth.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

/** Installed with what the conformance run needs: npm ci --prefix test/tools */
const TOOLS = fileURLToPath(new URL("../tools/node_modules/", import.meta.url));
const MCP_REMOTE = join(TOOLS, "mcp-remote/dist/proxy.js");
const AI_SDK = join(TOOLS, "@ai-sdk/mcp/dist/index.mjs");
const LANGCHAIN = join(TOOLS, "@langchain/mcp-adapters/dist/index.js");

/** A client of somebody else, as far as it is used here. */
interface OtherClient {
  toolNames(): Promise<string[]>;
  /** What the tool answered, as JSON. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

type Opened = (url: URL, world: NexusWorld) => Promise<OtherClient>;

const CLIENTS: Record<string, { file: string; open: Opened }> = {
  "AI SDK over Streamable HTTP": { file: AI_SDK, open: (url) => openAiSdk("http", url) },
  "AI SDK over HTTP+SSE": { file: AI_SDK, open: (url) => openAiSdk("sse", new URL("/sse", url)) },
  "LangChain over Streamable HTTP": { file: LANGCHAIN, open: (url) => openLangChain("http", url) },
  "LangChain over HTTP+SSE": { file: LANGCHAIN, open: (url) => openLangChain("sse", new URL("/sse", url)) },
  "mcp-remote over Streamable HTTP": { file: MCP_REMOTE, open: (url, world) => openRemote("http-only", url, world) },
  "mcp-remote over HTTP+SSE": {
    file: MCP_REMOTE,
    open: (url, world) => openRemote("sse-only", new URL("/sse", url), world),
  },
};

/** In a quick run each of them over the transport that it prefers. */
const TRIED = Object.keys(CLIENTS).filter((name) => isFull || !name.endsWith("over HTTP+SSE"));

/** Where they are not installed, the title says that nothing was tried. */
const isThere = Object.values(CLIENTS).every(({ file }) => existsSync(file));

describe.skipIf(!isThere)(`other people's clients${isThere ? "" : " (not installed: not tried)"}`, () => {
  let world: NexusWorld;
  let gateway: Gateway;

  beforeAll(async () => {
    world = await NexusWorld.open();
    gateway = await startGateway(world, "0");
  });
  afterAll(async () => {
    await gateway.stop();
    await world[Symbol.asyncDispose]();
  });

  test.each(TRIED)("%s lists and calls tools of both eras (B1, B2)", async (name) => {
    const client = await CLIENTS[name]!.open(gateway.url, world);
    try {
      const names = await client.toolNames();
      expect(names).toContain("demo__add");
      expect(names).toContain("demo-legacy__add");
      expect(await client.call("demo__add", { a: 2, b: 3 })).toContain("5");
      expect(await client.call("demo-legacy__add", { a: 20, b: 3 })).toContain("23");
    } finally {
      await client.close();
    }
  });

  test("they go on with their sessions when the gateway was restarted (B1, B2)", async () => {
    const names = ["AI SDK over Streamable HTTP", "LangChain over Streamable HTTP", "mcp-remote over Streamable HTTP"];
    const clients = await Promise.all(names.map((name) => CLIENTS[name]!.open(gateway.url, world)));
    try {
      for (const client of clients) await client.toolNames();
      await gateway.stop();
      gateway = await startGateway(world, gateway.url.port);
      for (const client of clients) expect(await client.call("demo-legacy__add", { a: 40, b: 2 })).toContain("42");
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });
});

interface Gateway {
  url: URL;
  stop(): Promise<void>;
}

async function startGateway(world: NexusWorld, port: string): Promise<Gateway> {
  const { child } = world.start(["serve", "--demo", "--port", port]);
  if (!child.stdout) throw new Error("The gateway has no output");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  };
  const url = new URL(line.replace("listening on ", ""));
  // A client that asks earlier is listed the servers that have started by then.
  const ready = new URL("/readyz", url);
  await vi.waitFor(async () => expect((await fetch(ready)).status).toBe(200), { timeout: 60_000 });
  return { url, stop };
}

interface AiSdk {
  createMCPClient: (options: { transport: { type: string; url: string } }) => Promise<{
    tools(): Promise<Record<string, { execute(args: unknown, options: unknown): Promise<unknown> }>>;
    close(): Promise<void>;
  }>;
}

async function openAiSdk(type: "http" | "sse", url: URL): Promise<OtherClient> {
  const { createMCPClient } = (await import(pathToFileURL(AI_SDK).href)) as AiSdk;
  const client = await createMCPClient({ transport: { type, url: url.href } });
  const tools = await client.tools();
  return {
    toolNames: async () => Object.keys(tools),
    call: async (tool, args) => JSON.stringify(await tools[tool]!.execute(args, { messages: [], toolCallId: "1" })),
    close: () => client.close(),
  };
}

interface LangChain {
  MultiServerMCPClient: new (options: { mcpServers: Record<string, { transport: string; url: string }> }) => {
    getTools(): Promise<{ name: string; invoke(args: unknown): Promise<unknown> }[]>;
    close(): Promise<void>;
  };
}

async function openLangChain(transport: "http" | "sse", url: URL): Promise<OtherClient> {
  const { MultiServerMCPClient } = (await import(pathToFileURL(LANGCHAIN).href)) as LangChain;
  const client = new MultiServerMCPClient({ mcpServers: { nexus: { transport, url: url.href } } });
  const tools = await client.getTools();
  return {
    toolNames: async () => tools.map(({ name }) => name),
    call: async (tool, args) => JSON.stringify(await tools.find(({ name }) => name === tool)!.invoke(args)),
    close: () => client.close(),
  };
}

/** A program that joins a client over stdio with a server over HTTP; the client is the official one. */
async function openRemote(transport: "http-only" | "sse-only", url: URL, world: NexusWorld): Promise<OtherClient> {
  const client = new Client({ name: "interop", version: "1.0.0" });
  const bridge = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_REMOTE, url.href, "--transport", transport, "--allow-http"],
    env: { PATH: process.env["PATH"] ?? "", HOME: world.home, MCP_REMOTE_CONFIG_DIR: join(world.home, "mcp-remote") },
    stderr: "ignore",
  });
  await client.connect(bridge);
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => JSON.stringify(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}
