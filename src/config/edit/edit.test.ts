import { existsSync } from "node:fs";
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../../test/fixtures/config-world.ts";
import { editTrusted } from "./edit-trusted.ts";
import { editFile, editText, type ServerEdit } from "./edit.ts";

const JSON_TEXT = `// my servers
{
    "mcpServers": {
        // the database
        "My DB": { "command": "db" }, // local
        "web": {
            "url": "https://example.com/mcp",
            "disabled": true
        }
    },
    "other": [1, 2]
}
`;

const YAML_TEXT = `# my servers
mcp:
  enabled: true

  servers:
    # the database
    - id: db
      command: "db" # local
      args: ["-y", 'x']

    - id: web
      url: https://example.com/mcp
      enabled: false
`;

test("P0: adds a server to JSON and changes nothing else", async () => {
  expect(await editText(JSON_TEXT, "a.json", { kind: "add", name: "new", entry: { command: "n", args: ["1"] } })).toBe(
    JSON_TEXT.replace(
      `            "disabled": true
        }`,
      `            "disabled": true
        },
        "new": {
            "command": "n",
            "args": [
                "1"
            ]
        }`,
    ),
  );
});

test("P0: switches and removes servers of JSON, with comments and order kept", async () => {
  expect(await editText(JSON_TEXT, "a.json", { kind: "enable", id: "web" })).toBe(JSON_TEXT.replace("true", "false"));
  expect(await editText(JSON_TEXT, "a.json", { kind: "enable", id: "my-db" })).toBe(JSON_TEXT);
  const disabled = await editText(JSON_TEXT, "a.json", { kind: "disable", id: "my-db" });
  expect(disabled).toContain(`"enabled": false`);
  expect(disabled).toContain("// the database");
  expect(await editText(JSON_TEXT, "a.json", { kind: "remove", id: "web" })).toBe(
    JSON_TEXT.replace(`}, // local`, `} // local`).replace(/        "web"[^}]*\}\n/, ""),
  );
  expect(await editText(JSON_TEXT, "a.json", { kind: "remove", id: "my-db" })).toBe(
    JSON_TEXT.replace(`"My DB": { "command": "db" }, // local`, " // local"),
  );
  const line = `{"servers": [{"id": "a", "command": "x"}, {"id": "b", "command": "y"}]}`;
  expect(await editText(line, "a.json", { kind: "remove", id: "b" })).toBe(
    `{"servers": [{"id": "a", "command": "x"}]}`,
  );
  expect(await editText(line, "a.json", { kind: "remove", id: "a" })).toBe(
    `{"servers": [ {"id": "b", "command": "y"}]}`,
  );
});

test("N12: edits YAML, with comments, quotes, blank lines and order kept", async () => {
  expect(await editText(YAML_TEXT, "a.yaml", { kind: "enable", id: "web" })).toBe(
    YAML_TEXT.replace("      enabled: false\n", ""),
  );
  expect(await editText(YAML_TEXT, "a.yaml", { kind: "disable", id: "db" })).toBe(
    YAML_TEXT.replace(`'x']\n`, `'x']\n      enabled: false\n`),
  );
  expect(await editText(YAML_TEXT, "a.yaml", { kind: "add", name: "new", entry: { command: "n" } })).toBe(
    `${YAML_TEXT}    - command: n\n      id: new\n`,
  );
  expect(await editText(YAML_TEXT, "a.yaml", { kind: "remove", id: "web" })).toBe(
    YAML_TEXT.slice(0, YAML_TEXT.indexOf("\n    - id: web")),
  );
});

test("N12: lists that are not indented stay so", async () => {
  const text = `servers:\n- id: a\n  command: x\n`;
  expect(await editText(text, "a.yaml", { kind: "disable", id: "a" })).toBe(`${text}  enabled: false\n`);
});

test("an existing server is not added again, a missing one is not removed, and nothing is added to TOML", async () => {
  const add = { kind: "add", name: "my db", entry: { command: "x" } } as const;
  await expect(editText(JSON_TEXT, "a.json", add)).rejects.toThrow(`The file already has a server "my-db"`);
  await expect(editText(JSON_TEXT, "a.json", { kind: "remove", id: "no" })).rejects.toThrow(
    `The file has no server "no"`,
  );
  await expect(editText("", "a.toml", add)).rejects.toThrow("Nexus cannot add servers to this TOML file");
  await expect(editText("{", "a.json", add)).rejects.toThrow("Not valid JSON");
});

test("P0: a server is replaced in place, under its written name", async () => {
  const add = { kind: "add", name: "my-db", entry: { url: "https://example.com/db" }, replace: true } as const;
  expect(await editText(JSON_TEXT, "a.json", add)).toBe(
    JSON_TEXT.replace(`{ "command": "db" }`, `{\n            "url": "https://example.com/db"\n        }`),
  );
  const edited = await editText(YAML_TEXT, "a.yaml", { ...add, name: "db" });
  expect(edited).toBe(YAML_TEXT.replace(/- id: db[\s\S]*'x'\]\n/, `- id: db\n      url: https://example.com/db\n`));
});

test("several edits are applied together or not at all", async () => {
  await using world = await ConfigWorld.open();
  const file = await world.write("a.json", JSON_TEXT);
  const edits = [
    { kind: "remove", id: "web" },
    { kind: "remove", id: "no" },
  ] as const;
  await expect(editFile(file, ...edits)).rejects.toThrow(`The file has no server "no"`);
  expect(await world.read("a.json")).toBe(JSON_TEXT);
});

const NEW = { kind: "add", name: "new", entry: { command: "x" } } as const;

test.for([
  [
    "a.json",
    `{\n  "mcpServers": null\n}\n`,
    `{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n`,
  ],
  ["a.json", "// hi\n", `// hi\n{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n`],
  ["a.json", `{"mcpServers":{"a":{"command":"y"}}}`, `{"mcpServers":{"a":{"command":"y"}, "new": {"command":"x"}}}`],
  ["a.yaml", "# c\nmcpServers: # why\n", "# c\nmcpServers:\n  # why\n  new:\n    command: x\n"],
  ["a.yaml", "mcp:\n  servers:\n", "mcp:\n  servers:\n    new:\n      command: x\n"],
  ["a.yaml", "mcp:\n  servers: []\n", "mcp:\n  servers:\n    - command: x\n      id: new\n"],
  ["a.yaml", "# c\n", "# c\n\nmcpServers:\n  new:\n    command: x\n"],
] as const)("P0: a server is added to %s with %j, where it is empty, too", async ([file, text, edited]) => {
  expect(await editText(text, file, NEW)).toBe(edited);
});

test("P0: a comment behind the last server stays with it, line ends and tabs stay", async () => {
  const text = `{\r\n\t"mcpServers": {\r\n\t\t"a": {"command":"x"} // of a\r\n\t}\r\n}\r\n`;
  expect(await editText(text, "a.json", NEW)).toBe(
    text.replace(`} // of a\r\n`, `}, // of a\r\n\t\t"new": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n`),
  );
  const trailing = `{\n "servers": [\n  { "id": "a", "command": "y" }, /* a */\n ],\n}`;
  expect(await editText(trailing, "a.json", NEW)).toBe(
    trailing.replace(`/* a */\n`, `/* a */\n  {\n   "command": "x",\n   "id": "new"\n  },\n`),
  );
});

test("N12: line ends and indentation of YAML stay", async () => {
  const text = `# c\r\nmcpServers:\r\n    a:\r\n        command: x # y\r\n        args:\r\n            - "1"\r\n`;
  expect(await editText(text, "a.yaml", NEW)).toBe(`${text}    new:\r\n        command: x\r\n`);
});

test("N12: YAML names that look like numbers or booleans are names", async () => {
  const text = "mcpServers:\n  123:\n    command: x\n  true:\n    command: y\n";
  expect(await editText(text, "a.yaml", { kind: "remove", id: "s-123" })).toBe(
    "mcpServers:\n  true:\n    command: y\n",
  );
  expect(await editText(text, "a.yaml", { kind: "disable", id: "true" })).toBe(`${text}    enabled: false\n`);
});

test("N12: a merged base of an entry is overridden, not changed", async () => {
  const text = "base: &b\n  command: x\n  enabled: false\nmcpServers:\n  a:\n    <<: *b\n";
  expect(await editText(text, "a.yaml", { kind: "enable", id: "a" })).toBe(`${text}    enabled: true\n`);
});

test.for([
  ["an alias", "disable", "base: &b\n  command: x\nmcpServers:\n  a: *b\n"],
  ["merged in", "remove", "base: &b\n  a: {command: x}\nmcpServers:\n  <<: *b\n  c: {command: y}\n"],
  ["merged in", "disable", "base: &b\n  a: {command: x}\nmcpServers:\n  <<: *b\n  c: {command: y}\n"],
  ["used by others", "remove", "mcpServers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n"],
  ["used by others", "disable", "mcpServers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n"],
] as const)("P1.9: a server that is %s is not changed by guess: %s says what to do by hand", async ([, kind, text]) => {
  await expect(editText(text, "a.yaml", { kind, id: "a" })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "Nexus cannot edit the file without changing other parts of it",
    hint: expect.stringMatching(/^It uses YAML anchors or aliases \(&, \*, <<\)\. .* in an editor\.$/) as string,
  });
});

test("P0: a server that is disabled twice is enabled", async () => {
  const text = `{"mcpServers":{"a":{"command":"x","enabled":false,"disabled":true}}}`;
  expect(await editText(text, "a.json", { kind: "enable", id: "a" })).toBe(
    `{"mcpServers":{"a":{"command":"x","disabled":false}}}`,
  );
});

test("P0: opencode's file gets servers where and how opencode reads them", async () => {
  const entry = {
    command: "npx",
    args: ["-y", "${PACKAGE}"],
    env: { T: "${env:TOKEN}", F: "${file:~/f}", D: "${A:-b}" },
    connection_timeout: "5s",
    timeout: "1m",
    enabled: false,
  };
  const text = await editText(`{\n  "$schema": "x"\n}\n`, "opencode.json", { kind: "add", name: "new", entry });
  expect(JSON.parse(text)).toEqual({
    $schema: "x",
    mcp: {
      new: {
        type: "local",
        command: ["npx", "-y", "{env:PACKAGE}"],
        environment: { T: "{env:TOKEN}", F: "{file:~/f}", D: "${A:-b}" },
        enabled: false,
        timeout: 5000,
        tool_timeout_sec: 60,
      },
    },
  });
  const remote = { kind: "add", name: "new", entry: { url: "https://a/", type: "http" }, replace: true } as const;
  expect(JSON.parse(await editText(text, "opencode.json", remote))).toMatchObject({
    mcp: { new: { type: "remote", url: "https://a/" } },
  });
  const other = `{"mcp":{"a":{"type":"local","command":["x"]}}}`;
  expect(JSON.parse(await editText(other, "other.json", NEW))).toMatchObject({ mcp: { new: { type: "local" } } });
});

test("P0: inputs are added with the server that needs them; existing inputs are kept", async () => {
  const inputs = [
    { id: "token", description: "Your token", password: true },
    { id: "region", password: false, default: "eu" },
  ];
  const add = { ...NEW, inputs };
  expect(JSON.parse(await editText("", "a.json", add))).toEqual({
    mcpServers: { new: { command: "x" } },
    inputs: [
      { type: "promptString", id: "token", description: "Your token", password: true },
      { type: "promptString", id: "region", password: false, default: "eu" },
    ],
  });
  expect(JSON.parse(await editText(JSON.stringify({ inputs: inputs.slice(0, 1) }), "a.json", add))).toMatchObject({
    inputs: [{ id: "token" }, { id: "region", default: "eu" }],
  });
});

test("P0: concurrent edits are all kept", async () => {
  await using world = await ConfigWorld.open();
  const file = await world.write("mcp.json", `{"mcpServers":{}}`);
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => editFile(file, { ...NEW, name })));
  const { mcpServers } = JSON.parse(await world.read("mcp.json")) as { mcpServers: object };
  expect(Object.keys(mcpServers).sort()).toEqual(names);
  expect(await readdir(world.root)).toEqual(["home", "mcp.json"]);
});

test("P0: concurrent edits of a trusted project keep its trust", async () => {
  await using world = await ConfigWorld.open();
  const file = join(world.cwd, ".mcp.json");
  const options = { trust: world.trust, surroundings: world.options() };
  await Promise.all(["a", "b", "c", "d", "e"].map((name) => editTrusted(file, [{ ...NEW, name }], options)));
  expect((await world.load()).servers.map(({ trusted }) => trusted)).toEqual([true, true, true, true, true]);
});

test("a file that is not UTF-8 is not edited, because undecodable text would be lost", async () => {
  await using world = await ConfigWorld.open();
  const file = join(world.root, "l.json");
  const bytes = Buffer.from(`{"mcpServers":{"a":{"command":"/opt/caf\u00e9"}}}`, "latin1");
  await writeFile(file, bytes);
  await expect(editFile(file, NEW)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "The configuration file is not UTF-8. Save it as UTF-8 in an editor first",
  });
  expect(await readFile(file)).toEqual(bytes);
});

test("if two servers have the same id, neither is changed", async () => {
  const text = `{ "mcpServers": {\n "My DB": { "command": "a" },\n "my-db": { "command": "b" } } }`;
  await expect(editText(text, "a.json", { kind: "remove", id: "my-db" })).rejects.toThrow(
    `The file has two servers "my-db", in lines 2 and 3`,
  );
});

test.skipIf(process.platform === "win32")(
  "a new file is its owner's alone; permissions and links of an old one stay",
  async () => {
    await using world = await ConfigWorld.open();
    const fresh = join(world.root, "new/mcp.json");
    await editFile(fresh, { kind: "add", name: "a", entry: { command: "x" } });
    expect(await world.read("new/mcp.json")).toBe(
      `{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  }\n}\n`,
    );
    expect((await stat(fresh)).mode & 0o777).toBe(0o600);

    await chmod(fresh, 0o640);
    const link = join(world.root, "link.json");
    await symlink(fresh, link);
    await editFile(link, { kind: "disable", id: "a" });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stat(fresh)).mode & 0o777).toBe(0o640);
    expect(await world.read("new/mcp.json")).toContain(`"enabled": false`);

    const dangling = join(world.root, "dangling.json");
    await symlink("later/mcp.json", dangling);
    await editFile(dangling, { kind: "add", name: "a", entry: { command: "x" } });
    expect((await lstat(dangling)).isSymbolicLink()).toBe(true);
    expect(await world.read("later/mcp.json")).toContain(`"command": "x"`);

    const yaml = join(world.root, "new/mcp.yaml");
    await editFile(yaml, { kind: "add", name: "a", entry: { command: "x" } });
    expect(await world.read("new/mcp.yaml")).toBe("mcpServers:\n  a:\n    command: x\n");
  },
);

test("R8: different inputs with the same id get another id, also in the entries that use them", async () => {
  const token = (description: string) => ({ id: "token", description, password: true });
  const add = (name: string, description: string) => ({
    kind: "add" as const,
    name,
    entry: { command: name, env: { T: "${input:token}", U: "x${input:token:-}", V: "${input:tokens}" } },
    inputs: [token(description)],
  });
  let text = "";
  for (const edit of [add("gh", "GitHub"), add("jira", "Jira"), add("hub", "GitHub"), add("desk", "Jira")]) {
    text = await editText(text, "a.json", edit);
  }
  const { mcpServers, inputs } = JSON.parse(text) as { mcpServers: Record<string, unknown>; inputs: { id: string }[] };
  expect(inputs).toMatchObject([token("GitHub"), { ...token("Jira"), id: "token-2" }]);
  expect(inputs).toHaveLength(2);
  expect(mcpServers).toMatchObject({
    gh: { env: { T: "${input:token}" } },
    jira: { env: { T: "${input:token-2}", U: "x${input:token-2:-}", V: "${input:tokens}" } },
    hub: { env: { T: "${input:token}" } },
    desk: { env: { T: "${input:token-2}" } },
  });
});

test("P1.9: a server in a disabled section is not reported as enabled, and a refused edit says why", async () => {
  const off = "mcp:\n  enabled: false\n  servers:\n    - id: a\n      command: x\n      enabled: false\n";
  await expect(editText(off, "a.yaml", { kind: "enable", id: "a" })).rejects.toMatchObject({
    message: `"enabled" of "mcp" is false in the file, which disables all its servers`,
    hint: expect.stringContaining(`Set "enabled" of "mcp" to true in an editor`) as string,
  });
  const twice = `{"mcpServers":{"a":{"command":"x","enabled":true,\n"enabled":true}}}`;
  await expect(editText(twice, "a.json", { kind: "disable", id: "a" })).rejects.toMatchObject({
    message: `The entry has "enabled" twice`,
    details: { source: { line: 2 } },
  });
});

test("P0: a refused edit creates no folder", async () => {
  await using world = await ConfigWorld.open();
  const file = join(world.root, "a/b/mcp.json");
  await expect(editFile(file, { kind: "remove", id: "x" })).rejects.toThrow(`The file has no server "x"`);
  expect(existsSync(join(world.root, "a"))).toBe(false);
});

test.for([
  ["utf8", "UTF-8 with a byte order mark"],
  ["utf16le", "UTF-16"],
] as const)("P0: a file in %s keeps its encoding", async ([encoding]) => {
  await using world = await ConfigWorld.open();
  const file = await world.write("a.json", "");
  await writeFile(file, Buffer.from(`\uFEFF{"mcpServers":{"ä":{"command":"x"}}}`, encoding));
  await editFile(file, { kind: "add", name: "b", entry: { command: "y" } });
  expect((await readFile(file)).toString(encoding)).toBe(
    `\uFEFF{"mcpServers":{"ä":{"command":"x"}, "b": {"command":"y"}}}`,
  );
});

test("N12: an edit of YAML changes only the lines of its server, in any layout", async () => {
  const text = `list:
    - 1
wide:    [1,2,   3]
folded: >-
  a
  b
mcpServers:
  a:
    command:   x   # odd
    enabled:   true # for now

  # about b
  b:
    command: 'y'
    args:
    - |
      long
      text
  # the end

key: {a: 1,b: 2}
`;
  const after = (edit: ServerEdit, lines = text) => editText(lines, "a.yaml", edit);
  expect(await after({ kind: "disable", id: "a" })).toBe(text.replace("true #", "false #"));
  const off = text.replace("      text\n", "      text\n    enabled: false\n");
  expect(await after({ kind: "disable", id: "b" })).toBe(off);
  expect(await after({ kind: "enable", id: "b" }, off)).toBe(text);
  expect(await after({ kind: "remove", id: "a" })).toBe(text.replace(/ {2}a:[^]*?now\n/, ""));
  expect(await after({ kind: "remove", id: "b" })).toBe(text.replace(/ {2}# about b[^]*?text\n/, ""));
  expect(await after({ kind: "add", name: "c", entry: { command: "z", args: ["1"] } })).toBe(
    text.replace("      text\n", '      text\n  c:\n    command: z\n    args:\n    - "1"\n'),
  );
  const windows = text.replaceAll("\n", "\r\n");
  expect(await after({ kind: "disable", id: "b" }, windows)).toBe(off.replaceAll("\n", "\r\n"));
  const list = "mcp:\n  servers:\n  - {id: a,command: x}\n  - id: b\n    command: y";
  expect(await after({ kind: "disable", id: "b" }, list)).toBe(`${list}\n    enabled: false\n`);
  expect(await after({ kind: "remove", id: "b" }, list)).toBe("mcp:\n  servers:\n  - {id: a,command: x}\n");
});
