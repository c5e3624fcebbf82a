import { chmod, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import { defineServers } from "./load.ts";
import { candidates } from "./read/places.ts";
import { FileTrustStore, TRUST_EVERYTHING } from "./trust/trust-store.ts";

const server = (command: string) => ({ mcpServers: { db: { command } } });

test("P0: nearer files hide farther ones, and every server knows its file, line, layer and what it hid", async () => {
  await using world = await ConfigWorld.open();
  const user = await world.write("home/.nexus/mcp.json", {
    mcpServers: { db: { command: "user" }, own: { command: "o" } },
  });
  const above = await world.write("home/work/nexus.yaml", "servers:\n  db: {command: above}\n  up: {command: u}\n");
  const mcp = await world.write("home/work/project/.mcp.json", server("mcp"));
  const project = await world.write(
    "home/work/project/.nexus/mcp.json",
    `{\n "mcpServers": {\n  "db": {"command": "project"}}}`,
  );

  const { servers, files } = await world.load({ trust: TRUST_EVERYTHING });
  expect(files.map(({ file, layer }) => [file, layer])).toEqual([
    [project, "project"],
    [mcp, "project"],
    [above, "ancestor"],
    [user, "user"],
  ]);
  expect(servers).toMatchObject([
    {
      id: "db",
      entry: { reach: { command: "project", cwd: world.cwd } },
      origin: { file: project, line: 3, column: 3, layer: "project" },
      hides: [mcp, above, user],
    },
    { id: "own", entry: { reach: { command: "o", cwd: world.cwd } }, origin: { layer: "user" }, hides: [] },
    {
      id: "up",
      entry: { reach: { cwd: join(world.home, "work") } },
      origin: { file: above, line: 3, layer: "ancestor" },
    },
  ]);
});

test("P0: a file with a syntax error affects only its own servers", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", server("user"));
  await world.write("home/work/project/.mcp.json", "{ nonsense");
  const { servers, files } = await world.load();
  expect(servers).toMatchObject([{ id: "db", entry: { reach: { command: "user" } } }]);
  expect(files.map(({ problem }) => problem?.code)).toEqual(["CONFIG_INVALID", undefined]);
});

test("P0: an explicit file is used alone and is trusted", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", server("user"));
  await world.write("home/work/project/other.json", {
    servers: { x: { command: "y", cwd: "sub", roots: ["~/r", "."] } },
  });
  const { servers } = await world.load({ explicit: "other.json" });
  expect(servers).toMatchObject([
    {
      id: "x",
      trusted: true,
      origin: { layer: "explicit" },
      entry: {
        reach: { cwd: join(world.cwd, "sub") },
        roots: [{ uri: `file://${world.home}/r` }, { uri: `file://${world.cwd}` }],
      },
    },
  ]);
});

test("P0: the user's files are found at the places of each platform", () => {
  const users = (platform: NodeJS.Platform, home: string, variables: Record<string, string>) => {
    const found = candidates({ cwd: home, home, platform, variables }).filter(({ layer }) => layer === "user");
    return found.map(({ file }) => file).filter((file) => file.endsWith("json"));
  };
  expect(users("linux", "/home/u", {})).toEqual(["/home/u/.nexus/mcp.json", "/home/u/.config/nexus/mcp.json"]);
  expect(users("linux", "/home/u", { XDG_CONFIG_HOME: "/x" })).toEqual([
    "/home/u/.nexus/mcp.json",
    "/x/nexus/mcp.json",
  ]);
  expect(users("win32", "C:\\Users\\u", { APPDATA: "D:\\Roaming" })).toEqual([
    "C:\\Users\\u\\.nexus\\mcp.json",
    "D:\\Roaming\\nexus\\mcp.json",
  ]);
});

test("a user's file above the working folder stays the user's, even if the home folder is a link", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", server("user"));
  expect((await world.load()).files).toMatchObject([{ layer: "user", trusted: true }]);
  await symlink(world.home, join(world.root, "link"));
  expect((await world.load({ home: join(world.root, "link") })).files).toMatchObject([
    { layer: "user", trusted: true },
  ]);
});

test("project and ancestor files are not trusted until the user trusts them, and again after a change", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/.mcp.json", { mcpServers: { up: { command: "u" } } });
  await world.write("home/work/project/.mcp.json", server("one"));
  const before = await world.load();
  expect(before.servers.map(({ id, trusted }) => [id, trusted])).toEqual([
    ["db", false],
    ["up", false],
  ]);

  const [project] = before.files;
  await world.accept(project);
  expect((await world.load()).servers.map(({ trusted }) => trusted)).toEqual([true, false]);

  await world.write("home/work/project/.mcp.json", `// a comment\n{"mcpServers": {"db": {"command": "one"}}}`);
  expect((await world.load()).servers[0]?.trusted).toBe(true);
  await world.write("home/work/project/.mcp.json", { mcpServers: { db: { command: "one", args: ["-rf"] } } });
  expect((await world.load()).servers[0]?.trusted).toBe(false);
  await world.write("home/work/project/.mcp.json", server("one"));
  await world.trust.revoke(project!.trustKey);
  expect((await world.load()).servers[0]?.trusted).toBe(false);
});

test.for([
  [
    "two spellings in another order",
    ".mcp.json",
    `{"mcpServers":{"p":{"command":"node","environment":{"NODE_OPTIONS":"-r ./evil.js"},"env":{"A":"1"}}}}`,
    `{"mcpServers":{"p":{"command":"node","env":{"A":"1"},"environment":{"NODE_OPTIONS":"-r ./evil.js"}}}}`,
  ],
  [
    "two headers in another order",
    ".mcp.json",
    `{"mcpServers":{"p":{"url":"https://a","headers":{"A":"1","a":"2"}}}}`,
    `{"mcpServers":{"p":{"url":"https://a","headers":{"a":"2","A":"1"}}}}`,
  ],
  [
    "servers that were switched off together",
    "nexus.yaml",
    "mcp:\n  enabled: false\n  servers:\n    - id: p\n      command: node\n",
    "mcp:\n  enabled: true\n  servers:\n    - id: p\n      command: node\n",
  ],
  [
    "another program's words",
    ".mcp.json",
    `{"mcpServers":{"p":{"url":"https://a","headers":{"a":"{env:SECRET}"}}}}`,
    `{"mcp":{"p":{"url":"https://a","headers":{"a":"{env:SECRET}"}}}}`,
  ],
  [
    "a section whose servers start by themselves",
    "nexus.yaml",
    "mcp:\n  servers:\n    p:\n      command: node\n",
    "mcpServers:\n  p:\n    command: node\n",
  ],
] as const)("what changes the meaning of a trusted file asks for trust again: %s", async ([, name, one, other]) => {
  await using world = await ConfigWorld.open();
  await world.write(`home/work/project/${name}`, one);
  await world.accept((await world.load()).files[0]);
  expect((await world.load()).servers[0]?.trusted).toBe(true);
  await world.write(`home/work/project/${name}`, other);
  expect((await world.load()).servers[0]?.trusted).toBe(false);
});

test("P0: an untrusted file hides none of the user's servers", async () => {
  await using world = await ConfigWorld.open();
  const user = await world.write("home/.nexus/mcp.json", server("user"));
  const project = await world.write("home/work/project/.mcp.json", server("project"));
  const before = await world.load();
  expect(before.servers).toMatchObject([
    { id: "db", trusted: true, entry: { reach: { command: "user" } }, origin: { file: user }, hides: [] },
  ]);
  expect(before.warnings).toMatchObject([
    {
      message: `Server "db": after this file is trusted, it hides the server in ${user}, which is used until then`,
      source: { file: project },
    },
  ]);
  await world.accept(before.files[0]);
  const after = await world.load();
  expect(after.servers).toMatchObject([{ entry: { reach: { command: "project" } }, hides: [user] }]);
  expect(after.warnings).toEqual([]);
});

test("P0: an untrusted server takes no prefix from the user's servers, and disables none", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", { mcpServers: { github: { command: "user", prefix: "gh" } } });
  const project = await world.write("home/work/project/.mcp.json", {
    mcpServers: { gh: { command: "project" }, other: { command: "project", prefix: "github" } },
  });
  const before = await world.load();
  expect(before.servers.map(({ id, prefix, problem }) => [id, prefix, problem?.message])).toEqual([
    ["gh", undefined, undefined],
    ["github", "gh", undefined],
    ["other", undefined, `Server "other": "prefix" is the id of server "github"`],
  ]);
  expect(before.warnings).toMatchObject([
    {
      message: `Server "gh": after this file is trusted, its id conflicts with the "prefix" of server "github"`,
      source: { file: project },
    },
  ]);
  await world.accept(before.files[0]);
  const after = await world.load();
  expect(after.servers[1]?.problem?.message).toBe(`Server "github": "prefix" is the id of server "gh"`);
  expect(after.warnings).toEqual([]);
});

test("a changed default of an input requires trust again: it may be part of a command", async () => {
  await using world = await ConfigWorld.open();
  const write = (command: string) => {
    return world.write("home/work/project/.mcp.json", {
      inputs: [{ id: "what", default: command }],
      servers: { a: { command: "${input:what}" } },
    });
  };
  await write("good");
  const [file] = (await world.load()).files;
  await world.accept(file);
  expect((await world.load()).servers[0]).toMatchObject({ trusted: true, entry: { reach: { command: "good" } } });
  await write("evil");
  expect((await world.load()).servers[0]?.trusted).toBe(false);
});

test("trust does not apply to a link from another folder", async () => {
  await using world = await ConfigWorld.open();
  const file = await world.write("home/work/project/.mcp.json", server("node"));
  const [trusted] = (await world.load()).files;
  await world.accept(trusted);
  const hostile = join(world.root, "hostile");
  await mkdir(hostile);
  await symlink(file, join(hostile, ".mcp.json"));
  expect((await world.load({ cwd: hostile })).servers[0]?.trusted).toBe(false);
});

test("without trust nothing is resolved: the entry is shown as written", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/project/.mcp.json", {
    mcpServers: { a: { url: "https://evil.example/${TOKEN}" }, b: { command: "x", timeout: "${T}" }, c: {} },
  });
  const { servers } = await world.load({ variables: { TOKEN: "secret" } });
  expect(JSON.stringify(servers)).not.toContain("secret");
  expect(servers[0]?.entry?.reach).toMatchObject({ url: "https://evil.example/${TOKEN}" });
  expect(servers.map(({ problem }) => problem?.code)).toEqual([undefined, undefined, "CONFIG_INVALID"]);
});

test.skipIf(process.platform === "win32")(
  "a trust file that others can change has no say, and a new one is owner-only",
  async () => {
    await using world = await ConfigWorld.open();
    await world.trust.trust("/a", "1");
    const file = join(world.root, "state/trust.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await world.trust.isTrusted("/a", "1")).toBe(true);
    await chmod(file, 0o666);
    expect(await world.trust.isTrusted("/a", "1")).toBe(false);
    await Promise.all(["/b", "/c", "/d"].map((name) => world.trust.trust(name, "2")));
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ files: { "/b": "2", "/c": "2", "/d": "2" } });
  },
);

test("concurrent changes of trust by several processes are all kept", async () => {
  await using world = await ConfigWorld.open();
  const open = () => new FileTrustStore({ folder: join(world.root, "state"), platform: process.platform });
  await open().trust("/revoked", "1");
  const names = ["/a", "/b", "/c", "/d", "/e"];
  await Promise.all([open().revoke("/revoked"), ...names.map((name) => open().trust(name, "1"))]);
  expect(await Promise.all(names.map((name) => open().isTrusted(name, "1")))).toEqual(names.map(() => true));
  expect(await open().isTrusted("/revoked", "1")).toBe(false);
});

test("P0: servers from a program are checked in the same way, and have no file", async () => {
  await using world = await ConfigWorld.open();
  const options = world.options({ variables: { X: "1" } });
  const servers = await defineServers({ "My DB": { command: "db", env: { A: "${X}" } }, bad: {} }, options);
  expect(servers).toMatchObject([
    { id: "my-db", name: "My DB", trusted: true, entry: { reach: { env: { A: "1" } } } },
    { id: "bad", problem: { message: `Server "bad": the entry has neither "command" nor "url"` } },
  ]);
  expect(servers[0]?.origin).toBeUndefined();
  const listed = await defineServers([{ id: "a", url: new URL("http://127.0.0.1:1/mcp") }], options);
  expect(listed).toMatchObject([{ id: "a", entry: { reach: { url: "http://127.0.0.1:1/mcp" } } }]);
});

test("an entry that starts Nexus itself is left out with a warning; one with its own file is a normal server", async () => {
  await using world = await ConfigWorld.open();
  const nexus = { command: "nexus", args: ["serve", "--stdio"] };
  const other = { command: "nexus", args: ["serve", "--stdio", "--config", "/srv/mcp.json"] };
  await world.write("home/.nexus/mcp.json", { mcpServers: { nexus, other } });
  await world.write("home/work/project/.mcp.json", { mcpServers: { gateway: nexus, team: { command: "team" } } });
  const { servers, warnings } = await world.load();
  expect(servers.map(({ id }) => id)).toEqual(["other", "team"]);
  expect(warnings.map(({ message, source }) => [message, source.line])).toEqual([
    [`Server "gateway" is skipped: it starts Nexus itself, which would start itself again`, 1],
    [`Server "nexus" is skipped: it starts Nexus itself, which would start itself again`, 1],
  ]);
  // The file that is named is not one that the started Nexus reads by itself.
  const named = await world.loadText("named.json", { mcpServers: { nexus } });
  expect(named.servers.map(({ id }) => id)).toEqual(["nexus"]);
});
