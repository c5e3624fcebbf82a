import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { expect, test } from "vitest";
import { changeText, editText } from "../config/edit/edit.ts";
import { editToml } from "./toml-edit.ts";

const CODEX = `# my settings
model = "o3" # the best
note = """
[mcp_servers.fake]
command = "not a table"
"""

# the database
[mcp_servers.db]
command = "db"  # local
args = [
  "a", # one ]
  'b"',
]

[mcp_servers.db.env]
KEY = "v"

# the web
[mcp_servers.web]
url = "https://example.com/mcp"

[profiles.fast] # a profile
model = "mini"
`;

const NEW = { command: "node", args: ["main.js", "serve", "--stdio"], env: { A: "b" } };
const NEW_TEXT = `[mcp_servers.nexus]
command = "node"
args = [ "main.js", "serve", "--stdio" ]

[mcp_servers.nexus.env]
A = "b"
`;

test("a table is added after those of its section, and nothing else changes", () => {
  const edited = editToml(CODEX, [{ path: ["mcp_servers", "nexus"], value: NEW }]);
  expect(edited).toBe(CODEX.replace("\n[profiles.fast]", `\n${NEW_TEXT}\n[profiles.fast]`));
  expect(editToml(edited, [{ path: ["mcp_servers", "nexus"], value: undefined }])).toBe(CODEX);
});

test.for([
  ["an empty file", "", NEW_TEXT],
  ["a file without its last line break", `model = "o3"`, `model = "o3"\n\n${NEW_TEXT}`],
  ["a file with other tables only", `[a]\nb = 1\n`, `[a]\nb = 1\n\n${NEW_TEXT}`],
  ["a section with a header of its own", `[mcp_servers]\nx = 1\n`, `[mcp_servers]\nx = 1\n\n${NEW_TEXT}`],
])("a table is added to %s", ([, text = "", after]) => {
  expect(editToml(text, [{ path: ["mcp_servers", "nexus"], value: NEW }])).toBe(after);
});

test("a table is replaced in place with its subtables, and comments around it stay", () => {
  const edited = editToml(CODEX, [{ path: ["mcp_servers", "db"], value: { command: "other" } }]);
  const old = CODEX.slice(CODEX.indexOf("[mcp_servers.db]"), CODEX.indexOf("\n# the web"));
  expect(edited).toBe(CODEX.replace(old, `[mcp_servers.db]\ncommand = "other"\n`));
});

test("line ends of Windows stay", () => {
  const text = `model = "o3"\r\n\r\n[mcp_servers.a]\r\ncommand = "a"\r\n`;
  const edited = editToml(text, [{ path: ["mcp_servers", "b"], value: { command: "b" } }]);
  expect(edited).toBe(`${text}\r\n[mcp_servers.b]\r\ncommand = "b"\r\n`);
});

test("servers of TOML are switched off and on, and removed, with comments kept", async () => {
  const off = await editText(CODEX, "config.toml", { kind: "disable", id: "db" });
  expect(off).toBe(CODEX.replace("]\n\n[mcp_servers.db.env]", "]\nenabled = false\n\n[mcp_servers.db.env]"));
  expect(await editText(off, "config.toml", { kind: "enable", id: "db" })).toBe(CODEX);
  const removed = await editText(CODEX, "config.toml", { kind: "remove", id: "web" });
  expect(removed).toBe(CODEX.replace(`[mcp_servers.web]\nurl = "https://example.com/mcp"\n`, ""));
  // The last of a section that has no line of its own.
  expect(await editText(`[mcp_servers.a]\ncommand = "a"\n`, "a.toml", { kind: "remove", id: "a" })).toBe("");
  const inline = `[mcp_servers]\na = { command = "a" } # one\nb = { command = "b" }\n`;
  expect(await editText(inline, "a.toml", { kind: "remove", id: "a" })).toBe(inline.replace(/a = .*\n/, ""));
});

test.for([
  `mcp_servers = { a = { command = "a" } }\n`,
  `mcp_servers.a.command = "a"\n`,
  `[[mcp_servers.a]]\ncommand = "a"\n`,
])("a file that cannot be edited without changing something else is left as it is: %j", async (text) => {
  const plan = () => [[{ path: ["mcp_servers", "a", "enabled"], value: false }]];
  expect(await changeText(text, "a.toml", plan)).toBeUndefined();
});

const NAME = fc.constantFrom("a", "b-c", "d.e", 'f"g', "ü");
const SCALAR = fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.array(fc.string(), { maxLength: 3 }));
const TABLE = fc.dictionary(fc.constantFrom("x", "y z", "w"), SCALAR, { maxKeys: 3 });
const DOCUMENT = fc.record({
  top: fc.string(),
  s: fc.dictionary(NAME, fc.record({ k: SCALAR, env: TABLE }), { maxKeys: 3, noNullPrototype: true }),
  after: TABLE,
});

test("setting one table changes only that table, and removing it leaves the others, in any file", async () => {
  await fc.assert(
    fc.asyncProperty(DOCUMENT, NAME, TABLE, async (document, name, value) => {
      const text = stringify(document);
      const path = ["s", name];
      const edited = (await changeText(text, "a.toml", () => [[{ path, value: { k: 1, ...value } }]])) ?? "";
      const said = parse(edited) as typeof document;
      expect(said.s[name]).toEqual({ k: 1, ...value });
      const others = (all: typeof document) => ({ ...all, s: { ...all.s, [name]: undefined } });
      expect(others(said)).toEqual(others(parse(text) as typeof document));
      const removed = (await changeText(edited, "a.toml", () => [[{ path, value: undefined }]])) ?? "";
      expect(others({ ...document, ...(parse(removed) as typeof document) })).toEqual(others(said));
    }),
  );
});

test("texts over several lines that end in quotes are one value", () => {
  const text = `a = """x""""\nb = '''y'''''\n[s.old]\nc = ""\n`;
  expect(editToml(text, [{ path: ["s", "old"], value: undefined }])).toBe(`a = """x""""\nb = '''y'''''\n`);
});
