import { chmod, lstat, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import { editFile, editText } from "./edit.ts";

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
    `{"servers": [{"id": "a", "command": "x"} ]}`,
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

test("a server that is there is not added twice, one that is not is not removed, and TOML is left alone", async () => {
  const add = { kind: "add", name: "my db", entry: { command: "x" } } as const;
  await expect(editText(JSON_TEXT, "a.json", add)).rejects.toThrow(`There is a server "my-db" in the file already`);
  await expect(editText(JSON_TEXT, "a.json", { kind: "remove", id: "no" })).rejects.toThrow(
    `There is no server "no" in the file`,
  );
  await expect(editText("", "a.toml", add)).rejects.toThrow("TOML files are read, not edited");
  await expect(editText("{", "a.json", add)).rejects.toThrow("Not valid JSON");
});

test("P0: a server is replaced where it stands, under the name it has there", async () => {
  const add = { kind: "add", name: "my-db", entry: { url: "https://example.com/db" }, replace: true } as const;
  expect(await editText(JSON_TEXT, "a.json", add)).toBe(
    JSON_TEXT.replace(`{ "command": "db" }`, `{\n            "url": "https://example.com/db"\n        }`),
  );
  const edited = await editText(YAML_TEXT, "a.yaml", { ...add, name: "db" });
  expect(edited).toBe(YAML_TEXT.replace(/- id: db[\s\S]*'x'\]\n/, `- id: db\n      url: https://example.com/db\n`));
});

test("several edits are one: where one cannot be made, none is", async () => {
  await using world = await ConfigWorld.open();
  const file = await world.write("a.json", JSON_TEXT);
  const edits = [
    { kind: "remove", id: "web" },
    { kind: "remove", id: "no" },
  ] as const;
  await expect(editFile(file, ...edits)).rejects.toThrow(`There is no server "no"`);
  expect(await world.read("a.json")).toBe(JSON_TEXT);
});

test("of two servers with the same id none is changed by guess", async () => {
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

    const yaml = join(world.root, "new/mcp.yaml");
    await editFile(yaml, { kind: "add", name: "a", entry: { command: "x" } });
    expect(await world.read("new/mcp.yaml")).toBe("mcpServers:\n  a:\n    command: x\n");
  },
);
