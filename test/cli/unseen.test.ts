import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { dyingServer } from "../fixtures/servers/dying-server.ts";

/** One of each kind that a terminal obeys or a person does not see. */
const UNSEEN = Array.from(
  "\u0007\u007f\u009b\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u202e\u2028\u2060\u2064\u2066\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9" +
    "\u{e0041}\u{e007f}\u{e0100}\u{e01ef}",
);
const HOSTILE = `h${UNSEEN.join("x")}\u001b[2J\u001b]0;t\u0007e`;

/** A server of which every text is hostile; it fails what it is asked for beyond lists and the tool "say". */
const SERVER = `
import { createInterface } from "node:readline";
const bad = ${JSON.stringify(HOSTILE)};
process.stderr.write("log " + bad + "\\n");
const schema = { type: "object", description: bad, properties: { [bad]: { type: "string", description: bad, enum: [bad] } } };
const answers = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
    serverInfo: { name: bad, title: bad, version: bad },
    instructions: bad,
  },
  "tools/list": { tools: [
    { name: "say", description: bad, inputSchema: { type: "object" } },
    { name: bad, title: bad, description: bad, inputSchema: schema, annotations: { title: bad } },
  ] },
  "prompts/list": { prompts: [{ name: "p", title: bad, description: bad, arguments: [{ name: bad, description: bad }] }] },
  "prompts/get": { description: bad, messages: [{ role: bad, content: { type: "text", text: bad } }] },
  "resources/list": { resources: [{ uri: "x:" + bad, name: bad, description: bad, mimeType: bad }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "x:" + bad, name: bad, description: bad }] },
  "resources/read": { contents: [{ uri: "x:" + bad, text: bad, mimeType: bad }, { uri: "x:2", text: bad }] },
  "completion/complete": { completion: { values: [bad], hasMore: true } },
  "logging/setLevel": {},
  "tools/call": {
    content: [
      { type: "text", text: bad }, { type: bad, bad },
      { type: "resource_link", uri: "x:" + bad, name: bad, description: bad, mimeType: bad },
    ],
    structuredContent: { [bad]: bad },
  },
  ping: {},
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "tools/call") {
    const params = { level: "info", logger: bad, data: bad };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params }) + "\\n");
  }
  const result = answers[method];
  const outcome = result ? { result } : { error: { code: -32601, message: bad, data: { bad } } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\\n");
}
`;

const COMMANDS: string[][] = [
  ["mcp", "servers"],
  ["mcp", "explain"],
  ["mcp", "explain", "odd"],
  ["mcp", "explain", "gone"],
  ["mcp", "connect", "odd"],
  ["mcp", "connect", "gone"],
  ["mcp", "connect", "dies"],
  ["mcp", "doctor"],
  ["mcp", "tools"],
  ["mcp", "tools", "--name", "say"],
  ["mcp", "tools", "--name", HOSTILE],
  ["mcp", "prompts"],
  ["mcp", "resources"],
  ["mcp", "templates"],
  ["mcp", "call", "odd.say", "--verbose"],
  ["mcp", "call", `odd.${HOSTILE}`],
  ["mcp", "call", HOSTILE],
  ["mcp", "call", "odd.say", "--answer", `${HOSTILE}=1`],
  ["mcp", "prompt", "odd.p"],
  ["mcp", "read", "odd", "x:1"],
  ["mcp", "complete", "odd.p", "--arg", HOSTILE],
  ["mcp", "request", "odd", "tools/list"],
  ["mcp", "request", "odd", "some/method"],
  ["mcp", "logs", "odd"],
  ["mcp", "logs", "dies"],
  ["mcp", "trust", "--show"],
  ["mcp", "import"],
  ["api", "check", "museum"],
  ["api", "show", "museum"],
  ["api", "diff", "museum"],
  [HOSTILE],
];

let world: NexusWorld;
/** A folder whose name is as bad as everything else. */
let folder: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  const script = await world.write("server.mjs", SERVER);
  const servers = {
    odd: { command: process.execPath, args: [script], name: HOSTILE, [HOSTILE]: 1 },
    dies: dyingServer(HOSTILE),
    gone: { command: `/no/${HOSTILE.replaceAll("\u0000", "")}`, args: [HOSTILE], cwd: "/" },
  };
  await world.configure(servers);
  const museum = await readFile(new URL("../../api/museum/museum.nexus.yaml", import.meta.url), "utf8");
  const inside = `home/work/${HOSTILE}`;
  await world.write(`${inside}/.mcp.json`, {
    mcpServers: { ...servers, more: { ...servers.odd, env: { [HOSTILE]: HOSTILE } } },
  });
  await world.write(
    `${inside}/museum.nexus.yaml`,
    museum.replace(/^title: .*/m, () => `title: ${inYaml(HOSTILE)}`),
  );
  folder = `${world.root}/${inside}`;
});

afterAll(() => world[Symbol.asyncDispose]());

test.each(COMMANDS.map((words) => [words.join(" ").replaceAll(HOSTILE, "HOSTILE"), words] as const))(
  "R8: nothing that is not seen is shown by nexus %j",
  async (_line, words) => {
    const people = await world.run(words, { cwd: folder });
    expect(unseenIn(people.stdout + people.stderr)).toEqual([]);
    const programs = await world.run([...words, "--json"], { cwd: folder });
    expect(unseenIn(programs.stdout + programs.stderr)).toEqual([]);
    expect(people.stdout + people.stderr + programs.stdout + programs.stderr).not.toBe("");
  },
);

test("R8: JSON has the very texts of the server", async () => {
  const listed = await world.run(["mcp", "tools", "--server", "odd", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ items: [{ name: "say" }, { name: HOSTILE, title: HOSTILE }] });
  const failed = await world.run(["mcp", "request", "odd", "some/method", "--json"]);
  expect(JSON.parse(failed.stderr)).toMatchObject({ error: { rpc: { message: HOSTILE } } });
});

test
  .runIf(HAS_TERMINAL)
  .each([
    [["mcp", "tools", "--server", "odd"]],
    [["mcp", "tools", "--server", "odd", "--json"]],
    [["mcp", "call", "odd.say"]],
    [["mcp", "call", "odd.say", "--json"]],
    [["mcp", "request", "odd", "some/method"]],
    [["mcp", "request", "odd", "some/method", "--json"]],
    [["mcp", "logs", "odd", "--json"]],
    [["mcp", "doctor", "odd"]],
    [["mcp", "trust", "--show"]],
  ])("R8: on a terminal nothing that is not seen is shown by nexus %j", async (words) => {
  const { child, output } = world.inTerminal(words, { cwd: folder });
  await once(child, "close");
  expect(output.stdout).toContain(String.raw`\u202e`);
  expect(unseenIn(output.stdout)).toEqual([]);
});

/** Colours and the end of a line are ours. */
function unseenIn(text: string): string[] {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const shown = text.replaceAll(/\u001b\[(?:1|2|22|31|32|33|36|39)m|\r?\n|\r\u001b\[2K/g, "");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const controls = shown.match(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g) ?? [];
  return [...new Set([...controls, ...UNSEEN.filter((character) => shown.includes(character))])].map((character) =>
    JSON.stringify(character),
  );
}

function inYaml(text: string): string {
  const escapes = Array.from(text, (character) => {
    return String.raw`\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
  });
  return `"${escapes.join("")}"`;
}
