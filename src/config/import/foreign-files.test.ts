import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../../test/fixtures/config-world.ts";
import { editTrusted } from "../edit/edit-trusted.ts";
import { TRUST_EVERYTHING } from "../trust/trust-store.ts";
import { loadWritten } from "../edit/written-servers.ts";

const EVIL = "NODE_OPTIONS=--require ./evil.cjs\n";
const user = (envFile: string) => ({ mcpServers: { mine: { command: "node", envFile } } });

test("R8: a relative envFile of a user's file is beside that file, not in the working folder", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", user(".env"));
  await world.write("home/.nexus/.env", "A=mine\n");
  await world.write("home/work/project/.env", EVIL);
  const { servers } = await world.load();
  expect(servers).toMatchObject([{ entry: { reach: { env: { A: "mine" } } } }]);
});

test("R8: files of an untrusted folder give no variables to a user's server", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", user("${workspaceFolder}/.env"));
  await world.write("home/work/project/.env", EVIL);
  const { servers } = await world.load();
  expect(servers[0]?.entry).toBeUndefined();
  expect(servers[0]?.problem?.code).toBe("UNTRUSTED");
  expect(servers[0]?.problem?.message).toBe(
    `Server "mine": its "envFile" \${workspaceFolder}/.env is in a folder that is not trusted, and its variables could make the server run any program`,
  );

  const trusting = await world.load({ trust: TRUST_EVERYTHING });
  expect(trusting.servers[0]?.entry?.reach).toMatchObject({ env: { NODE_OPTIONS: "--require ./evil.cjs" } });
});

test("R8: a project that is trusted, the home folder and a path without variables are the user's own choice", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.nexus/mcp.json", user("${workspaceFolder}/.env"));
  await world.write("home/.env", "A=home\n");
  await world.write("home/work/project/.env", "A=project\n");
  expect((await world.load({ cwd: world.home })).servers[0]?.entry?.reach).toMatchObject({ env: { A: "home" } });

  await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "x" } } });
  const before = await world.load();
  expect(before.servers.map(({ id, problem }) => [id, problem?.code])).toEqual([
    ["mine", "UNTRUSTED"],
    ["theirs", undefined],
  ]);
  await world.accept(before.files[0]);
  expect((await world.load()).servers[0]?.entry?.reach).toMatchObject({ env: { A: "project" } });

  await world.trust.revoke(before.files[0]?.trustKey ?? "");
  await world.write("home/.nexus/mcp.json", user(join(world.cwd, ".env")));
  expect((await world.load()).servers[0]?.entry?.reach).toMatchObject({ env: { A: "project" } });
});

test.for(["${workspaceFolder}/../.env", "${LINK}/.env"])(
  "R8: %s leads into the same untrusted checkout",
  async (path) => {
    await using world = await ConfigWorld.open();
    await mkdir(join(world.cwd, ".git"));
    await mkdir(join(world.cwd, "sub"));
    await symlink(world.cwd, join(world.home, "link"));
    await world.write("home/.nexus/mcp.json", user(path));
    await world.write("home/work/project/.env", EVIL);
    const { servers } = await world.load({
      cwd: join(world.cwd, "sub"),
      variables: { LINK: join(world.home, "link") },
    });
    expect(servers[0]?.problem?.code).toBe("UNTRUSTED");
  },
);

const PROJECT = { mcpServers: { p: { command: "node", args: ["${file:arg.txt}"], envFile: "${NONE:-.env}" } } };

test("R8: the content of a project's envFile and ${file:} is part of what is trusted, and so is their absence", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/project/.mcp.json", PROJECT);
  await world.write("home/work/project/arg.txt", "good.js");
  const isTrusted = async () => (await world.load()).servers[0]?.trusted;

  await world.accept((await world.load()).files[0]);
  expect(await isTrusted()).toBe(true);
  await world.write("home/work/project/.env", EVIL);
  expect(await isTrusted()).toBe(false);
  await world.accept((await world.load()).files[0]);
  expect(await isTrusted()).toBe(true);
  await world.write("home/work/project/arg.txt", "evil.js");
  expect(await isTrusted()).toBe(false);
  await world.write("home/work/project/arg.txt", "good.js");
  await world.write("home/work/project/README.md", "not referred to");
  expect(await isTrusted()).toBe(true);
});

test("R8: showing, editing and loading a file use the same trust", async () => {
  await using world = await ConfigWorld.open();
  const file = await world.write("home/work/project/.nexus/mcp.json", PROJECT);
  await world.write("home/work/project/.env", "A=1\n");
  await world.write("home/work/project/.nexus/arg.txt", "good.js");
  const surroundings = world.options();
  const { files } = await world.load();
  expect((await loadWritten(file, surroundings))?.fingerprint).toBe(files[0]?.fingerprint);

  await world.accept(files[0]);
  await editTrusted(file, [{ kind: "disable", id: "p" }], { trust: world.trust, surroundings });
  expect((await world.load()).servers).toMatchObject([{ trusted: true, enabled: false }]);
  await world.write("home/work/project/.env", EVIL);
  await editTrusted(file, [{ kind: "enable", id: "p" }], { trust: world.trust, surroundings });
  expect((await world.load()).servers).toMatchObject([{ trusted: false, enabled: true }]);
});

test("R8: a new file with a relative path is trusted like one with an absolute path", async () => {
  await using world = await ConfigWorld.open();
  const edit = { kind: "add", name: "a", entry: { command: "x" } } as const;
  await editTrusted(".mcp.json", [edit], { trust: world.trust, surroundings: world.options() });
  expect((await world.load()).servers).toMatchObject([{ id: "a", trusted: true }]);
});
