import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { dyingServer } from "../../fixtures/servers/dying-server.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

const VALUE = "canary-4711-value";
const FOLDER = "/srv/canary-folder";
const VARIABLE = "CANARY_VARIABLE";
/** Nothing of these is a caller's business: values, paths, names of variables, addresses and words of programs. */
const TRACES =
  /canary|srv|127\.0\.0\.1:1\b|ECONN|ENOENT|\/tmp|\/usr|node\b|stderr|exit(?:ed)? (?:with )?code|http:|npx|\bcommand\b/i;

/** The start of what a server writes to stderr before it ends; the rest is its variable. */
const LAST_WORDS = `Error: cannot open ${FOLDER}/db: ${VARIABLE}=`;
/** Answers the handshake and lists with what a server has, and writes that when it is called. */
const CRASHES = `
const { createInterface } = require("node:readline");
const answers = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
  "tools/list": { tools: [{ name: "x", inputSchema: { type: "object" } }] }, ping: {},
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "tools/call") { process.stderr.write("${LAST_WORDS}" + process.env.TOKEN + "\\n"); process.exit(3); }
  if (id === undefined) return;
  const outcome = answers[method] ? { result: answers[method] } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\\n");
});`;
/** Refuses every handshake in its own words. */
const REFUSES = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  if (id === undefined) return;
  const error = { code: -32603, message: "${FOLDER} is missing", data: { ${VARIABLE}: process.env.TOKEN } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error }) + "\\n");
});`;

const IDS = ["dies", "gone", "folder", "away", "unset", "refuses", "page"] as const;

let world: NexusWorld;
let page: Server;
let gateway: ReturnType<NexusWorld["start"]>;
let origin: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  page = createServer((_req, res) => res.writeHead(500).end(`<html><title>${FOLDER}</title>${VALUE}</html>`));
  page.listen(0, "127.0.0.1");
  await once(page, "listening");
  const { port } = page.address() as AddressInfo;
  const env = { TOKEN: VALUE };
  const node = (script: string) => ({ command: process.execPath, args: ["-e", script], env });
  const dies = { ...dyingServer(LAST_WORDS), env };
  await world.configure({
    dies,
    gone: { command: `${FOLDER}/bin/server`, args: ["--token", VALUE], env },
    folder: { ...dies, cwd: FOLDER },
    away: { url: `http://ada:${VALUE}@127.0.0.1:1/canary?key=${VALUE}` },
    unset: { ...dies, env: { TOKEN: `\${${VARIABLE}}` } },
    refuses: node(REFUSES),
    page: { url: `http://127.0.0.1:${port}/canary`, headers: { "x-key": VALUE }, http_max_retries: 0 },
    crashes: node(CRASHES),
  });
  gateway = world.start(["serve", "--port", "0"]);
  await vi.waitFor(() => expect(gateway.output.stdout).toContain("Ctrl-C"), { timeout: 60_000 });
  origin = new URL(/http:\/\/[\d.:]+\/mcp/.exec(gateway.output.stdout)?.[0] ?? "").origin;
});

afterAll(async () => {
  gateway.child.kill("SIGTERM");
  await once(gateway.child, "close");
  page.close();
  await world[Symbol.asyncDispose]();
});

/** What a caller may ask, of all servers and of one. */
const REQUESTS: [method: string, params?: (prefix: string, uri: string) => Record<string, unknown>][] = [
  ["server/discover"],
  ["tools/list"],
  ["prompts/list"],
  ["resources/list"],
  ["resources/templates/list"],
  ["tools/call", (prefix) => ({ name: `${prefix}x`, arguments: {} })],
  ["prompts/get", (prefix) => ({ name: `${prefix}x` })],
  ["resources/read", (_prefix, uri) => ({ uri: `${uri}x:1` })],
  [
    "completion/complete",
    (prefix) => ({ ref: { type: "ref/prompt", name: `${prefix}x` }, argument: { name: "a", value: "" } }),
  ],
  ["tasks/get", () => ({ taskId: "x" })],
  ["some/method"],
];

/** Everything that callers of both eras are answered about a server, as text. */
async function everythingAbout(id: string): Promise<string[]> {
  const answers: string[] = [];
  for (const path of ["/mcp", `/servers/${id}/mcp`]) {
    const [prefix, uri] = path === "/mcp" ? [`${id}__`, `${id}+`] : ["", ""];
    const legacy = await LegacyWire.open(`${origin}${path}`, "2025-06-18");
    answers.push(JSON.stringify(legacy.initialized));
    for (const [method, params] of REQUESTS) {
      const given = params?.(prefix, uri) ?? {};
      const { status, headers, text } = await send(`${origin}${path}`, modern(method, given));
      answers.push(JSON.stringify([status, headers, text]));
      const response = await legacy.post({ id: method, method, params: given });
      answers.push(await response.text());
    }
  }
  const listening = modern("subscriptions/listen", { notifications: { resourceSubscriptions: [`x:1`] } });
  answers.push(
    (
      await send(`${origin}/servers/${id}/mcp`, {
        ...listening,
        headers: { ...listening.headers, accept: "application/json" },
      })
    ).text,
  );
  for (const path of [`/servers/${id}/tools`, "/metrics", "/readyz", "/healthz"]) {
    const { status, headers, text } = await send(`${origin}${path}`, { method: "GET" });
    answers.push(JSON.stringify([status, headers, text]));
  }
  return answers;
}

describe("P1.9: callers read fixed words about a server that cannot be used", () => {
  test.each(IDS)("%s: no value, path, variable or address of this machine reaches any caller", async (id) => {
    const answers = await everythingAbout(id);
    expect(answers.filter((answer) => TRACES.test(answer))).toEqual([]);
  });

  test.each([
    ["dies", "SERVER_EXITED", `Server "dies" stopped`],
    ["gone", "COMMAND_NOT_FOUND", `Server "gone" could not be started`],
    ["folder", "CONFIG_INVALID", `Server "folder" is not configured correctly`],
    ["away", "CONNECTION_FAILED", expect.stringMatching(/^Server "away" (?:could not|cannot) be reached/) as string],
    ["unset", "CONFIG_INVALID", `Server "unset" is not configured correctly`],
    ["refuses", "SERVER_ERROR", `Server "refuses" answered with an error`],
    ["page", "HTTP_STATUS", `Server "page" answered with an HTTP error`],
  ])(
    "%s: the error names the server and its code, and the log has the rest under the same id",
    async (id, code, message) => {
      const { json } = await send(`${origin}/mcp`, modern("tools/call", { name: `${id}__x`, arguments: {} }));
      expect(json.error).toMatchObject({ code: -32603, message, data: { code, server: id } });
      const line = await loggedInFull(correlationOf(json));
      expect(line).toMatch(LOGGED[id as (typeof IDS)[number]]);
      expect(line).not.toContain(VALUE);
    },
  );

  test("lists say which servers are missing, why in the same words, and when to come back", async () => {
    const missing = async () => {
      const { json } = await send(`${origin}/mcp`, modern("tools/list"));
      return json.result._meta["dev.nexus/unavailable"] as Record<string, unknown>[];
    };
    const all = await missing();
    expect(new Set(all.map(({ server }) => server))).toEqual(new Set(IDS));
    for (const { correlationId } of all) expect(await logged(String(correlationId))).not.toContain(VALUE);
    await expect.poll(missing).toContainEqual({
      server: "dies",
      code: "SERVER_EXITED",
      reason: `Server "dies" stopped`,
      retryAfterMs: expect.any(Number) as number,
      correlationId: expect.any(String) as string,
    });
  });

  test("a call during which the server ended may have reached it, and its last words are in the log alone", async () => {
    const { json, text } = await send(`${origin}/mcp`, modern("tools/call", { name: "crashes__x", arguments: {} }));
    expect(json.error).toMatchObject({
      message: `Server "crashes" stopped`,
      data: { code: "SERVER_EXITED", server: "crashes", mayHaveReached: true },
    });
    expect(text).not.toMatch(TRACES);
    expect(await loggedInFull(correlationOf(json))).toContain(`cannot open ${FOLDER}/db: ${VARIABLE}=•••`);
  });

  test("the same failure is logged in full once, however often callers ask, and each call keeps its own id", async () => {
    const ask = async () => {
      const { json } = await send(`${origin}/mcp`, modern("tools/call", { name: "unset__y", arguments: {} }));
      return correlationOf(json);
    };
    const ids = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(await loggedInFull(id)).toMatch(LOGGED.unset);
    const full = () =>
      gateway.output.stderr.split("\n").filter((line) => line.includes("correlationId") && LOGGED.unset.test(line));
    await expect.poll(full).toHaveLength(1);
  });

  test("the manifest of a server's tools says the same", async () => {
    const { status, text } = await send(`${origin}/servers/gone/tools`, { method: "GET" });
    expect([status, JSON.parse(text)]).toMatchObject([
      502,
      {
        error: {
          code: "COMMAND_NOT_FOUND",
          message: `Server "gone" could not be started`,
          server: "gone",
          mayHaveReached: false,
          correlationId: expect.any(String) as string,
        },
      },
    ]);
  });

  test("the client of serve --stdio reads the same words, and its log has the rest", async () => {
    const { child, output } = world.start(["serve", "--stdio"]);
    const _meta = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: {} };
    const params = { name: "gone__x", arguments: {}, _meta };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: { _meta } })}\n`);
    await expect.poll(() => output.stdout.trim().split("\n").length).toBe(2);
    child.stdin?.end();
    await once(child, "close");
    expect(output.stdout).not.toMatch(TRACES);
    expect(output.stdout).toContain(String.raw`Server \"gone\" could not be started`);
    expect(output.stderr).toMatch(LOGGED.gone);
    expect(output.stderr).not.toContain(VALUE);
  });
});

/** What somebody who runs the gateway has to know. */
const LOGGED: Record<(typeof IDS)[number], RegExp> = {
  dies: /exited with code 3.*cannot open \/srv\/canary-folder\/db: CANARY_VARIABLE=•••/,
  gone: /Command not found: \/srv\/canary-folder\/bin\/server/,
  folder: /The working folder \/srv\/canary-folder does not exist/,
  away: /Nothing is listening at http:\/\/127\.0\.0\.1:1/,
  unset: /the variable CANARY_VARIABLE is not set/,
  refuses: /\/srv\/canary-folder is missing/,
  page: /HTTP 500/,
};

function correlationOf({ error }: WireMessage): string {
  return (error?.data as { correlationId?: string } | undefined)?.correlationId ?? "";
}

/** The line with the details: that of the call, or the one of an earlier call to which its own line refers. */
async function loggedInFull(correlationId: string): Promise<string> {
  const line = await logged(correlationId);
  const earlier = /"sameAs":"([^"]+)"/.exec(line)?.[1];
  return earlier === undefined ? line : logged(earlier);
}

/** The line of the gateway's log with this id. */
async function logged(correlationId: string): Promise<string> {
  expect(correlationId).toMatch(/^[\w-]{8,}$/);
  const find = () => gateway.output.stderr.split("\n").find((line) => line.includes(correlationId)) ?? "";
  await expect.poll(find).not.toBe("");
  return find();
}
