import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { connect } from "../../src/index.ts";
import type { Params } from "../../src/protocol/json-rpc.ts";
import type { CallToolResult, InputResult, Tool } from "../../src/protocol/mcp.ts";
import { LATEST } from "../../src/protocol/revisions.ts";

/** The official clients, and ours in both eras. */
export const CALLERS = ["SDK 2.x, modern", "SDK 1.x, legacy", "ours, modern", "ours, legacy"] as const;
export type CallerKind = (typeof CALLERS)[number];

/** Answers a question of a server. */
export type Reply = (params: Params) => { action: "accept" | "decline" | "cancel"; content?: Params };

/** A client at an endpoint, where names and addresses have its prefixes; they are left out here. */
export interface Caller {
  tools(): Promise<Tool[]>;
  call(tool: string, args: Params): Promise<CallToolResult>;
  resources(): Promise<{ uri: string; title?: string }[]>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

export interface CallerOptions {
  url: URL;
  prefix: { name: string; uri: string };
  reply?: Reply | undefined;
}

/** What the three clients have in common. */
interface Plain {
  listTools(): Promise<{ tools: unknown[] }>;
  callTool(call: { name: string; arguments: Params }): Promise<unknown>;
  listResources(): Promise<{ resources: unknown[] }>;
  readResource(what: { uri: string }): Promise<{ contents: unknown[] }>;
  close(): Promise<void>;
}

const INFO = { name: "caller", version: "1.0.0" };

export async function openCaller(kind: CallerKind, { url, prefix, reply }: CallerOptions): Promise<Caller> {
  const plain = await OPEN[kind](url, reply);
  return {
    async tools() {
      const { tools } = await plain.listTools();
      return (tools as Tool[]).map((tool) => ({ ...tool, name: without(prefix.name, tool.name) }));
    },
    async call(tool, args) {
      return (await plain.callTool({ name: `${prefix.name}${tool}`, arguments: args })) as CallToolResult;
    },
    async resources() {
      const { resources } = await plain.listResources();
      return (resources as { uri: string }[]).map((one) => ({ ...one, uri: without(prefix.uri, one.uri) }));
    },
    async read(uri) {
      const { contents } = await plain.readResource({ uri: `${prefix.uri}${uri}` });
      return (contents as { text?: string }[]).map(({ text = "" }) => text).join("\n");
    },
    close: () => plain.close(),
  };
}

const OPEN: Record<CallerKind, (url: URL, reply: Reply | undefined) => Promise<Plain>> = {
  async "SDK 2.x, modern"(url, reply) {
    const client = new Client2(INFO, { ...capable(reply), versionNegotiation: { mode: { pin: LATEST } } });
    if (reply) client.setRequestHandler("elicitation/create", ({ params }) => reply(params as Params) as never);
    await client.connect(new Http2(url));
    return client;
  },
  async "SDK 1.x, legacy"(url, reply) {
    const client = new Client1(INFO, capable(reply));
    if (reply) client.setRequestHandler(ElicitRequestSchema, ({ params }) => reply(params as Params) as never);
    await client.connect(new Http1(url));
    return client;
  },
  "ours, modern": (url, reply) => openOwn(url, "modern", reply),
  "ours, legacy": (url, reply) => openOwn(url, "legacy", reply),
};

async function openOwn({ href }: URL, era: "modern" | "legacy", reply: Reply | undefined): Promise<Plain> {
  const handle = ({ params = {} }: { params?: Params }) => reply?.(params) as InputResult;
  const input = reply && { ...capable(reply), handle };
  const client = await connect({ url: href }, { era, input });
  return {
    listTools: async () => ({ tools: await client.listTools() }),
    callTool: ({ name, arguments: args }) => client.callTool(name, args),
    listResources: async () => ({ resources: await client.listResources() }),
    readResource: async ({ uri }) => client.readResource(uri),
    close: () => client.close(),
  };
}

function capable(reply: Reply | undefined): { capabilities: { elicitation?: { form: Record<string, never> } } } {
  return { capabilities: reply ? { elicitation: { form: {} } } : {} };
}

function without(prefix: string, text: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
