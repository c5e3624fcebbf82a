import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import { cpuClock } from "../../test/fixtures/cpu-time.ts";

test.for([
  [
    "a missing comma",
    "a.json",
    `{\n  "mcpServers": {\n    "a": { "command": "node" }\n    "b": { "command": "node" }\n  }\n}`,
    `Not valid JSON at line 4, column 5: a comma is missing before this
a.json:4:5 (explicit)
3 |     "a": { "command": "node" }
4 |     "b": { "command": "node" }
  |     ^
Add a comma at the end of the previous item.`,
  ],
  [
    "single quotes",
    "a.json",
    `{ 'mcpServers': {} }`,
    `Not valid JSON at line 1, column 3: this is not a value; text needs double quotes
a.json:1:3 (explicit)
1 | { 'mcpServers': {} }
  |   ^
Put text and names in double quotes: "command": "node". Only numbers, true, false and null have none.`,
  ],
  [
    "a brace that is missing at the end",
    "a.json",
    `{\n\t"mcpServers": {\n\t}\n\n\n`,
    `Not valid JSON at line 3, column 3: a } is missing here
a.json:3:3 (explicit)
2 | \t"mcpServers": {
3 | \t}
  | \t ^
A { before this is not closed. Add a } at its end.`,
  ],
  [
    "a path with single backslashes",
    "a.json",
    String.raw`{ "servers": { "a": { "command": "C:\tools\server.exe" } } }`,
    String.raw`Not valid JSON at line 1, column 34: this text has an invalid escape sequence
a.json:1:34 (explicit)
1 | { "servers": { "a": { "command": "C:\tools\server.exe" } } }
  |                                  ^
Write \\ for a backslash: "C:\\tools".`,
  ],
  [
    "a secret beside the mistake, which is hidden",
    "a.json",
    `{ "a": { "API_KEY": "sk-123456", "b" 1 } }`,
    `Not valid JSON at line 1, column 38: a colon is missing here
a.json:1:38 (explicit)
1 | { "a": { "API_KEY": "*********", "*" 1 } }
  |                                      ^
Write "name": value, with a colon between the two.`,
  ],
  [
    "a tab in YAML",
    "a.yaml",
    `mcp:\n\tservers: []\n`,
    `Not valid YAML at line 2, column 1: Tabs are not allowed as indentation
a.yaml:2:1 (explicit)
1 | mcp:
2 | \tservers: []
  | ^
Indent with spaces.`,
  ],
  [
    "TOML without a value",
    "a.toml",
    `[mcp_servers.a]\ncommand =\n`,
    `Not valid TOML at line 2, column 10: invalid value
a.toml:2:10 (explicit)
1 | [mcp_servers.a]
2 | command =
  |          ^`,
  ],
  [
    "a list of names where servers should be",
    "a.json",
    `{ "mcpServers": "github" }`,
    `"mcpServers" is neither an object nor a list of servers
a.json:1:3 (explicit)
Write { "mcpServers": { "files": { "command": "node", "args": ["server.js"] } } }.`,
  ],
  [
    "a list at the top",
    "a.json",
    `[]`,
    `The file is not an object
a.json:1:1 (explicit)
Write { "mcpServers": { "files": { "command": "node", "args": ["server.js"] } } }.`,
  ],
] as const)("P1.9: says where and what is wrong in a file: %s", async ([, name, text, told]) => {
  await using world = await ConfigWorld.open();
  const { files, servers } = await world.loadText(name, text);
  expect(world.told(files[0]?.problem)).toBe(told);
  expect(servers).toEqual([]);
});

test.for([
  [
    `{ "command": "node", "url": "http://a/" }`,
    `Server "a": the entry has both "command" and "url"
a.json:3:1 (explicit)
node
http://a/
Use one of: { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" } or { "api": "shop.nexus.yaml" }.`,
  ],
  [
    `{}`,
    `Server "a": the entry has neither "command" nor "url"
a.json:3:1 (explicit)
Use one of: { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" } or { "api": "shop.nexus.yaml" }.`,
  ],
  [
    `"node server.js"`,
    `Server "a": the entry is not an object
a.json:3:6 (explicit)
Write { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" }.`,
  ],
  [
    `{ "command": "node", "enabled": "yes" }`,
    `Server "a": "enabled" must be true or false, not text
a.json:3:27 (explicit)
node
Write "enabled": true, without quotes around true.`,
  ],
  [
    `{ "command": "node", "disabled": "no" }`,
    `Server "a": "disabled" must be true or false, not text
a.json:3:27 (explicit)
node
Write "disabled": false, without quotes around false.`,
  ],
  [
    `{ "command": "node", "env": { "PORT": 80 } }`,
    `Server "a": "env.PORT" must be text, not a number
a.json:3:36 (explicit)
node
Put its value in quotes.`,
  ],
  [
    `{ "command": "node", "timeout": "soon" }`,
    `Server "a": "timeout" is not a duration
a.json:3:27 (explicit)
node
Use "30s", "2m" or a number of milliseconds.`,
  ],
  [
    `{ "command": "node", "tools": { "allow": "search" } }`,
    `Server "a": "tools.allow" must be a list, not text
a.json:3:38 (explicit)
node
Write "allow": ["search"].`,
  ],
  [
    `{ "command": "node", "isolation": "none" }`,
    `Server "a": "isolation" must be owner, call or shared, not "none"
a.json:3:27 (explicit)
node`,
  ],
] as const)("P0, P1.9: a bad entry says what to write, and costs nobody else: %s", async ([entry, told]) => {
  await using world = await ConfigWorld.open();
  const text = `{ "mcpServers": {\n"good": { "command": "node" },\n"a": ${entry} } }`;
  const { servers } = await world.loadText("a.json", text);
  expect(servers.map(({ id, entry }) => [id, entry?.id])).toEqual([
    ["a", undefined],
    ["good", "good"],
  ]);
  expect(world.told(servers[0]?.problem)).toBe(told);
});

const TOO_MUCH =
  "The configuration file is nested too deeply, or has too many values: the limits are 100 levels and 200000 values";

test("an invalid allow list allows nothing", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", { servers: { a: { command: "x", tools: { allow: "y" } } } });
  expect(servers[0]?.tools).toEqual({ allow: [] });
});

test("P0: two names that become the same id are an error that names both", async () => {
  await using world = await ConfigWorld.open();
  const text = `{ "mcpServers": {\n "My Server": { "command": "a" },\n "my-server": { "command": "b" },\n "c": { "command": "c" } } }`;
  const { servers } = await world.loadText("a.json", text);
  expect(servers.map(({ id }) => id)).toEqual(["c", "my-server"]);
  expect(servers[1]?.entry).toBeUndefined();
  expect(world.told(servers[1]?.problem)).toBe(
    `Server "my-server": "My Server" (line 2) and "my-server" (line 3) have the same id
a.json:3:2 (explicit)
Rename one of them. An id has only lower-case letters, digits and dashes; other characters become dashes.`,
  );
});

test("P0: the same name twice in a file is an error too", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", `{"servers": {"a": {"command": "x"}, "a": {"command": "y"}}}`);
  expect(servers[0]?.problem?.message).toBe(`Server "a": "a" (line 1) and "a" (line 1) have the same id`);
});

test("P0: a list item without an id is reported", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", { servers: [{ command: "x" }] });
  expect(servers[0]).toMatchObject({ id: "servers[0]" });
  expect(servers[0]?.problem?.message).toBe(`Server "servers[0]": the entry of "servers" has no "id"`);
});

test("P0: a list item without an id affects no other, with any name", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", { servers: [{ command: "x" }, { id: "server-1", command: "y" }] });
  expect(servers.map(({ id, problem }) => [id, problem?.code])).toEqual([
    ["server-1", undefined],
    ["servers[0]", "CONFIG_INVALID"],
  ]);
});

test("P0: an invalid section beside a valid one is a warning", async () => {
  await using world = await ConfigWorld.open();
  const text = `{"mcpServers":{"good":{"command":"x"}},\n"servers":"prod"}`;
  const { servers, files, warnings } = await world.loadText("a.json", text);
  expect(servers.map(({ id }) => id)).toEqual(["good"]);
  expect(files[0]?.problem).toBeUndefined();
  expect(warnings).toMatchObject([
    { message: `"servers" is neither an object nor a list of servers; it has no effect`, source: { line: 2 } },
  ]);
});

test.for([
  [`"env": {}, "environment": {}`, `"env" and "environment" are synonyms`],
  [`"tool_timeout_sec": 1, "timeout": 1`, `"tool_timeout_sec" and "timeout" are synonyms`],
  [`"cwd": "a", "cwd": "b"`, `"cwd" is written twice`],
] as const)("P0, P1.9: %s: what is said twice is a problem of that server alone", async ([keys, what]) => {
  await using world = await ConfigWorld.open();
  const text = `{"mcpServers":{"a":{"command":"x",\n${keys}},"b":{"command":"y"}}}`;
  const { servers } = await world.loadText("a.json", text);
  expect(servers.map(({ problem }) => problem?.message)).toEqual([`Server "a": ${what}`, undefined]);
  expect(servers[0]?.problem?.details.source?.line).toBe(2);
});

test.for([
  [`"args": 8080`, `"args" must be a list, not a number`],
  [`"timeout": "soon"`, `"timeout" is not a duration`],
  [`"type": "http"`, `the entry has a "command" and the type "http"`],
  [`"env": {\n"PORT": 80 }`, `"env.PORT" must be text, not a number`, 4],
  [`"enabled": "yes"`, `"enabled" must be true or false, not text`],
] as const)("P0, P1.9: %s: the problem is at the line of the key", async ([key, what, line = 3]) => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", `{"mcpServers":{"a":{\n"command":"x",\n${key}}}}`);
  expect(servers[0]?.problem?.message).toBe(`Server "a": ${what}`);
  expect(servers[0]?.problem?.details.source?.line).toBe(line);
});

const WRONG_ARGS = `server.js --name 'a b'`;

test.for([
  ["a.json", JSON.stringify({ mcpServers: { a: { command: "node", args: WRONG_ARGS } } }), /"args": ?"[^"]*"/],
  ["a.yaml", `mcp:\n  servers:\n    - id: a\n      command: node\n      args: "${WRONG_ARGS}"\n`, /args: "[^"]*"/],
  ["a.toml", `[mcp_servers.a]\ncommand = "node"\nargs = "${WRONG_ARGS}"\n`, /args = "[^"]*"/],
] as const)("P1.9: the corrected arguments in the error fit into %s", async ([file, text, wrong]) => {
  await using world = await ConfigWorld.open();
  const { problem } = (await world.loadText(file, text)).servers[0] ?? {};
  const corrected = problem?.hint?.replace(/^Write it as a list: (.*)\.$/, "$1") ?? "";

  const { servers } = await world.loadText(file, text.replace(wrong, corrected));

  expect(servers[0]?.entry?.reach).toMatchObject({ command: "node", args: ["server.js", "--name", "a b"] });
});

test("P1.9: a hint about arguments in one text shows variables as they were written", async () => {
  await using world = await ConfigWorld.open();
  const entry = { command: "${NODE}", args: "server.js ${S}", ca: "${S}" };
  const { servers } = await world.loadText(
    "a.json",
    { servers: { a: entry } },
    { variables: { S: "SECRET", NODE: "x" } },
  );
  expect(servers[0]?.problem?.hint).toBe('Write it as a list: "args": ["server.js", "${S}"].');
});

test.for([
  ["a.json", `{"mcpServers":{"a":{"command":"node 'my server.js'"}}}`, `"command": "node", "args": ["my server.js"]`],
  ["a.toml", `[mcp_servers.a]\ncommand = "node 'my server.js'"`, `command = "node" and args = ["my server.js"]`],
] as const)(
  "P1.9: the warning about arguments in a command splits them as a shell does, in %s",
  async ([file, text, right]) => {
    await using world = await ConfigWorld.open();
    const { warnings } = await world.loadText(file, text);
    expect(warnings[0]?.message).toContain(`write ${right}`);
  },
);

test.for([
  ["comand", "command"],
  ["ulr", "url"],
])("P0, P1.9: %s: a mistyped key that makes an entry useless is the place of the problem", async ([key, meant]) => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", `{"mcpServers":{"a":{\n"timeout":"5s",\n"${key}":"x"}}}`);
  expect(servers[0]?.problem).toMatchObject({
    message: `Server "a": unknown key "${key}", and no "command" or "url"`,
    hint: `Did you mean "${meant}"?`,
    details: { source: { line: 3, column: 1 } },
  });
});

test("G: a prefix has the form of an id, and leads to one server", async () => {
  await using world = await ConfigWorld.open();
  const entries = [
    `"a":{"command":"x","prefix":"gh"}`,
    `"b":{"command":"x","prefix":"gh"}`,
    `"c":{"command":"x","prefix":"a"}`,
  ];
  const odd = [
    `"d":{"command":"x","prefix":"GH_1"}`,
    `"e":{"command":"x",\n"prefix":7}`,
    `"f":{"command":"x","prefix":"f"}`,
  ];
  const { servers, warnings } = await world.loadText("a.json", `{"mcpServers":{${[...entries, ...odd].join(",")}}}`);
  expect(servers.map(({ id, prefix, problem }) => [id, prefix, problem?.message])).toEqual([
    ["a", "gh", undefined],
    ["b", undefined, `Server "b": "prefix" is a prefix of server "a"`],
    ["c", undefined, `Server "c": "prefix" is the id of server "a"`],
    ["d", undefined, `Server "d": prefix: "GH_1" cannot be used in names`],
    ["e", undefined, `Server "e": "prefix" must be text, not a number`],
    ["f", "f", undefined],
  ]);
  expect(servers[4]?.problem?.details.source?.line).toBe(2);
  expect(warnings).toEqual([]);
});

test("P0, P1.9: unknown keys are kept and reported with what was probably meant", async () => {
  await using world = await ConfigWorld.open();
  const text = `{ "mcpServers": { "a": {\n  "command": "npx -y server",\n  "autoStart": true,\n  "comand": 1,\n  "colour": "red", "x-mine": 1\n} }, "mcpServer": {} }`;
  const { servers, warnings } = await world.loadText("a.json", text);
  expect(servers[0]?.extra).toEqual({ autoStart: true, comand: 1, colour: "red", "x-mine": 1 });
  expect(servers[0]?.problem).toBeUndefined();
  expect(warnings.map(({ message, source: { line, column } }) => `${line}:${column} ${message}`)).toEqual([
    `6:6 Unknown key "mcpServer"; did you mean "mcpServers"?`,
    `3:3 Server "a": unknown key "autoStart"; did you mean "auto_start"?`,
    `4:3 Server "a": unknown key "comand"; did you mean "command"?`,
    `5:3 Server "a": unknown key "colour"; it has no effect`,
    `2:3 Server "a": "command" contains arguments, but it is not split by a shell; write "command": "npx", "args": ["-y","server"]`,
  ]);
});

test("P1.9: a server outside mcpServers is reported", async () => {
  await using world = await ConfigWorld.open();
  const { warnings } = await world.loadText("a.json", { github: { command: "x" } });
  expect(warnings[0]?.message).toBe(
    `"github" looks like a server but is outside "mcpServers": { "mcpServers": { "github": … } }`,
  );
});

test("P1.9: a missing explicit file is reported with its name", async () => {
  await using world = await ConfigWorld.open();
  const { files } = await world.load({ explicit: "nothing.json" });
  expect(world.told(files[0]?.problem)).toBe(
    "The configuration file does not exist\nhome/work/project/nothing.json (explicit)\nCheck the path, and that you may read its folder.",
  );
});

test("an endlessly nested file, or one named __proto__, does no harm", async () => {
  await using world = await ConfigWorld.open();
  const deep = await world.loadText("a.json", `{"mcpServers":${'{"a":'.repeat(50_000)}`);
  expect(deep.files[0]?.problem?.code).toBe("CONFIG_INVALID");
  const odd = await world.loadText("b.json", `{"servers":{"__proto__":{"command":"x","env":{"__proto__":"y"}}}}`);
  expect(odd.servers).toMatchObject([{ id: "proto", name: "__proto__" }]);
  expect(Object.hasOwn({}, "command")).toBe(false);
});

test("P1.9: a path that is not a file, and YAML that is far too deep, are reported at once", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/project/.mcp.json/inside", "");
  await world.write("home/work/project/nexus.yaml", `servers: ${"[".repeat(20_000)}`);
  const { files } = await world.load();
  expect(files.map(({ problem }) => problem?.code)).toEqual(["CONFIG_INVALID", "CONFIG_INVALID"]);
  expect(world.told(files[0]?.problem)).toBe(
    "The configuration file is a folder, a pipe or a device\nhome/work/project/.mcp.json (project)\nReplace it with a regular file.",
  );
});

test.for([500, 2_500, 5_000])("P0: values nested %i deep in a project's file cost that file only", async (depth) => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", { mcpServers: { mine: { command: "x" } } });
  const inner = [`${"[".repeat(depth)}${"]".repeat(depth)}`, `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`];
  await world.write("home/work/project/.mcp.json", `{"mcpServers":{"d":{"command":"x","x":${inner[0]}}}}`);
  await world.write("home/work/project/.nexus/mcp.json", `{"mcpServers":{"d":{"command":"x","x":${inner[1]}}}}`);
  await world.write("home/work/project/nexus.yaml", `mcpServers: {d: {command: x, x: ${inner[0]}}}`);
  const { servers, files } = await world.load();
  expect(servers.map(({ id }) => id)).toEqual(["mine"]);
  const problems = files.map(({ problem }) => problem?.message);
  expect(problems.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => TOO_MUCH));
});

test("P0: long words in TOML texts, and endless keys, are read quickly", async () => {
  await using world = await ConfigWorld.open();
  const spent = cpuClock();
  const text = `note = """\n${"a".repeat(50_000)} is a word\n${"[".repeat(50_000)}\n"""\n[mcp_servers . "a b"]\ncommand = "x"\n`;
  const { servers } = await world.loadText("a.toml", text);
  expect(servers).toMatchObject([{ id: "a-b", origin: { line: 5, column: 1 } }]);
  const deep = await world.loadText("b.toml", `${Array(5_000).fill("a").join(".")} = 1\n`);
  expect(deep.files[0]?.problem?.message).toBe(TOO_MUCH);
  expect(spent()).toBeLessThan(5_000);
});

test("P0: of very many entries with the same name, a few are named quickly", async () => {
  await using world = await ConfigWorld.open();
  const spent = cpuClock();
  const text = `{"mcpServers":{${Array(1_000).fill(`"a":1`).join(",")}}}`;
  const { servers } = await world.loadText("a.json", text);
  expect(servers[0]?.problem?.message).toBe(
    `Server "a": "a" (line 1) and "a" (line 1) and "a" (line 1) and 997 more have the same id`,
  );
  expect(spent()).toBeLessThan(5_000);
});

test("P1.9: the excerpt of a file in one long line shows the part near the mistake", async () => {
  await using world = await ConfigWorld.open();
  const servers = Array.from({ length: 1000 }, (_, index) => `"s${index}":{"command":"x"}`).join(",");
  const { files } = await world.loadText("a.json", `{"mcpServers":{${servers} "last":{}}}`);
  const [shown = "", caret = ""] = files[0]?.problem?.details.excerpt?.split("\n") ?? [];
  expect(shown.length).toBeLessThan(130);
  expect(shown.slice(caret.indexOf("^"))).toBe(`"last":{}}}`);
});

test.for([
  [{ command: "x", type: "${S}" }, '"type" must be stdio, http or sse, not "${S}"'],
  [{ command: "x", envFile: "/nope/${S}" }, 'the "envFile" /nope/${S} does not exist'],
] as const)("P1.9: of %j what is wrong is told as it was written", async ([entry, told]) => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText("a.json", { servers: { a: entry } }, { variables: { S: "SECRET" } });
  expect(servers[0]?.problem?.message).toBe(`Server "a": ${told}`);
});

test("settings that are probably wrong, or have no effect, cause a warning at their line (P1.9)", async () => {
  await using world = await ConfigWorld.open();
  const text = `{ "mcpServers": {
    "a": { "command": "node",
      "connection_timeout": 60,
      "timeout": 1000,
      "http_retry_backoff": 1.5 },
    "b": { "url": "https://example.com/mcp", "headers": { "authorization": "Bearer x" },
      "oauth": { "clientId": "x" } },
    "c": { "command": "node",
      "oauth": { "clientId": "x" } },
    "d": { "url": "https://example.com/mcp",
      "oauth": { "clientId": "x",
        "tokenUrl": "https://as.example/token" } } } }`;
  const { servers, warnings } = await world.loadText("a.json", text);
  expect(servers.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  expect(warnings.map(({ message, source: { line } }) => `${line} ${message}`)).toEqual([
    `3 Server "a": "connection_timeout": 60 means 60 milliseconds; write "60s" for seconds`,
    `5 Server "a": "http_retry_backoff": 1.5 means 1.5 milliseconds; write "1.5s" for seconds`,
    `7 Server "b": "oauth" has no effect, because "headers" has "authorization"`,
    `9 Server "c": "oauth" has no effect without "url"`,
    `12 Server "d": "oauth.tokenUrl" has no effect; Nexus reads it from the server's metadata`,
  ]);
});

test("mcp.connection_timeout holds for every server of the section that has none of its own, in seconds (N12)", async () => {
  await using world = await ConfigWorld.open();
  const entries = { a: { command: "node" }, b: { command: "node", connection_timeout: "5s" } };
  const { servers, warnings } = await world.loadText("a.json", { mcp: { connection_timeout: 60, servers: entries } });
  expect(servers.map(({ entry }) => entry?.connectTimeoutMs)).toEqual([60_000, 5_000]);
  expect(warnings).toEqual([]);
});
