import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readEnvironment } from "../../../src/environment.ts";
import { serve, type Gateway } from "../../../src/gateway/index.ts";
import { META } from "../../../src/protocol/meta.ts";
import { LEGACY_REVISIONS } from "../../../src/protocol/revisions.ts";
import { VERSION } from "../../../src/protocol/version.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";

const NAMED = { name: "weather", title: "Weather Station", version: "3.2.1" };
const SHOWN = {
  ...NAMED,
  description: "Forecasts.",
  websiteUrl: "https://weather.example",
  icons: [{ src: "https://weather.example/icon.png" }],
};

/** A server that introduces itself as it is told to, in one of the two eras. */
function introducing(serverInfo: unknown, era: "modern" | "legacy") {
  const capabilities = { tools: {} };
  const _meta = { [META.serverInfo]: serverInfo };
  const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta };
  const tools = [{ name: "look", inputSchema: { type: "object" } }];
  const answers =
    era === "modern"
      ? {
          "server/discover": { ...complete, supportedVersions: ["2026-07-28"], capabilities },
          "tools/list": { ...complete, tools },
          "tools/call": { resultType: "complete", content: [], _meta },
        }
      : {
          initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo },
          "tools/list": { tools },
          "tools/call": { content: [] },
          ping: {},
        };
  const script = `
const answers = ${JSON.stringify(answers)};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const outcome = answers[method] ? { result: answers[method] } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\\n");
});`;
  // Connected by the first client that asks.
  return { command: process.execPath, args: ["-e", script], auto_start: false };
}

let stateFolder: string;
let gateway: Gateway;

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-identity-"));
  const servers = {
    old: introducing(SHOWN, "legacy"),
    new: introducing(SHOWN, "modern"),
    odd: {
      ...introducing({ name: 7, version: null, title: null, icons: [null], extra: 1 }, "legacy"),
      name: "Odd One",
    },
    silent: introducing(undefined, "modern"),
  };
  gateway = await serve({ host: { servers, stateFolder }, surroundings: readEnvironment(), port: 0 });
});

afterAll(async () => {
  await gateway.close();
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

const urlOf = (server: string) => gateway.url.replace(/mcp$/, `servers/${server}/mcp`);

async function initialized(url: string, protocolVersion: string): Promise<unknown> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const { json, events } = await send(url, { headers, body });
  const { result = {} } = json.result ? json : (events[0] ?? {});
  return result.serverInfo;
}

async function signature(url: string, method: string, params = {}): Promise<unknown> {
  const { json } = await send(url, modern(method, params));
  return json.result._meta?.[META.serverInfo];
}

test.each(["old", "new"])(
  "B2: the endpoint of one server (%s) gives the server's own name and version, as the caller's revision knows them",
  async (server) => {
    const { title: _, ...plain } = NAMED;
    const expected: Record<string, unknown> = { "2025-11-25": SHOWN, "2025-06-18": NAMED };
    for (const revision of LEGACY_REVISIONS) {
      expect(await initialized(urlOf(server), revision)).toEqual(expected[revision] ?? plain);
    }
    expect(await signature(urlOf(server), "server/discover")).toEqual(SHOWN);
    expect(await signature(urlOf(server), "tools/list")).toEqual(SHOWN);
    expect(await signature(urlOf(server), "tools/call", { name: "look" })).toEqual(SHOWN);
  },
);

test("members of the wrong type in a server's introduction are left out or replaced by its id", async () => {
  const odd = { name: "odd", version: "unknown", title: "Odd One", extra: 1 };
  expect(await initialized(urlOf("odd"), "2025-11-25")).toEqual(odd);
  expect(await signature(urlOf("odd"), "server/discover")).toEqual(odd);
  expect(await signature(urlOf("silent"), "server/discover")).toEqual({ name: "silent", version: "unknown" });
});

test("the endpoint of all servers is the gateway", async () => {
  const nexus = { name: "nexus", title: "Nexus", version: VERSION };
  expect(await initialized(gateway.url, "2025-11-25")).toEqual(nexus);
  expect(await signature(gateway.url, "server/discover")).toEqual(nexus);
  expect(await signature(gateway.url, "tools/call", { name: "new__look" })).toEqual(nexus);
});
