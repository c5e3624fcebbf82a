import { existsSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const DEMO = fileURLToPath(new URL("../../../dist/demo/main.js", import.meta.url));

/** Folders that an empty or relative variable would lead to from inside the clone. */
const STATE_FOLDERS = ["nexus", "state/nexus", ".local/state/nexus", "home/.local/state/nexus"];
const CONFIG_FOLDERS = ["nexus", "config/nexus", ".config/nexus", "home/.nexus", "home/.config/nexus"];

let world: NexusWorld;
/** A repository of a stranger, who knows how Nexus works. */
let clone: string;
/** Written by each program of the stranger when it runs. */
let marker: string;

beforeEach(async () => {
  world = await NexusWorld.open();
  clone = world.project;
  marker = join(world.root, "marker");
  await world.configure({ demo: { command: process.execPath, args: [DEMO] } });
  const planted = {
    command: process.execPath,
    args: ["-e", `require("fs").writeFileSync(${JSON.stringify(marker)}, "")`],
  };
  await plant(".mcp.json", { mcpServers: { planted } });
  await plant(".nexus/mcp.json", { mcpServers: { planted } });
  for (const folder of CONFIG_FOLDERS) await plant(`${folder}/mcp.json`, { mcpServers: { planted } });
  // Trust as it would be written for these files, for a home folder that the stranger guessed.
  const elsewhere = join(world.root, "elsewhere");
  await world.run(["mcp", "trust", "--yes"], { env: { XDG_STATE_HOME: elsewhere } });
  const trusted = await world.read("elsewhere/nexus/trust.json");
  expect(trusted).toContain(".mcp.json");
  for (const folder of STATE_FOLDERS) await chmod(await plant(`${folder}/trust.json`, trusted), 0o600);
});

afterEach(() => world[Symbol.asyncDispose]());

function plant(name: string, content: string | object): Promise<string> {
  return world.write(join("home/work/project", name), content);
}

async function filesOfClone(): Promise<string[]> {
  return (await readdir(clone, { recursive: true })).toSorted();
}

interface Listed {
  files: { file: string; layer: string; trusted: boolean }[];
}

/** The files of the clone that count as configuration, and whether they were believed. */
async function believedFiles(env: Record<string, string>): Promise<Listed["files"]> {
  const { code, stdout, stderr } = await world.run(["mcp", "servers", "--json"], { env });
  expect(code, stderr).toBe(0);
  const { files } = JSON.parse(stdout) as Listed;
  return files.filter(
    ({ file, trusted, layer }) => resolve(clone, file).startsWith(clone) && (trusted || layer === "user"),
  );
}

test.each([
  ["XDG_STATE_HOME", ""],
  ["XDG_STATE_HOME", "."],
  ["XDG_STATE_HOME", "state"],
  ["XDG_CONFIG_HOME", ""],
  ["XDG_CONFIG_HOME", "config"],
])("with %s=%j nothing of the working folder is believed, and nothing is written there", async (name, value) => {
  const env = { [name]: value };
  const before = await filesOfClone();
  const tools = await world.run(["mcp", "tools"], { env });
  expect(tools.stdout).toContain("echo(text: string)");
  expect(existsSync(marker)).toBe(false);
  expect(await believedFiles(env)).toEqual([]);
  const secret = await world.run(["secrets", "set", "token"], { env, stdin: "not-a-real-one" });
  expect(secret.code, secret.stderr).toBe(0);
  expect(await filesOfClone()).toEqual(before);
});

test.each(["", ".", "home"])("with HOME=%j no file of the working folder is the user's", async (home) => {
  // What is kept must not go to the home folder of the account that runs the tests.
  const env = { HOME: home, USERPROFILE: home, XDG_STATE_HOME: join(world.root, "state") };
  const before = await filesOfClone();
  expect(await believedFiles(env)).toEqual([]);
  expect(await filesOfClone()).toEqual(before);
});
