import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";

const DIST = new URL("../../dist/", import.meta.url).href;
const DEMO = fileURLToPath(new URL("demo/main.js", DIST));

/** Written where the process ends: which modules of Node it had loaded. */
const SPY = `import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(process.env.NEXUS_TEST_SPY, JSON.stringify(process.moduleLoadList)));`;

let world: NexusWorld;
let spy: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  spy = await world.write("spy.mjs", SPY);
  await world.configure({ demo: { command: process.execPath, args: [DEMO] } });
});

afterAll(() => world[Symbol.asyncDispose]());

/** The files of the package and the modules of Node that a command line loads, without those of its servers. */
async function loadedBy(...args: string[]): Promise<{ files: string[]; builtin: string[] }> {
  const coverage = join(world.root, "coverage");
  const list = join(world.root, "builtin.json");
  const { child } = world.start(args, {
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(spy).href}`,
      NEXUS_TEST_SPY: list,
      NODE_V8_COVERAGE: coverage,
    },
  });
  child.stdin?.end();
  expect(await once(child, "close")).toEqual([0, null]);
  // Node hands NODE_V8_COVERAGE on to every child: the files are told apart by the number of the process.
  const [name = ""] = (await readdir(coverage)).filter((file) => file.startsWith(`coverage-${child.pid}-`));
  const { result } = JSON.parse(await readFile(join(coverage, name), "utf8")) as { result: { url: string }[] };
  const files = result.filter(({ url }) => url.startsWith(DIST)).map(({ url }) => withoutHash(url.slice(DIST.length)));
  const builtin = (JSON.parse(await readFile(list, "utf8")) as string[])
    .filter((entry) => entry.startsWith("NativeModule "))
    .map((entry) => entry.slice("NativeModule ".length));
  return { files: files.toSorted(), builtin };
}

/** `cli/core-DJtqpINo.cjs` is `cli/core`. */
function withoutHash(file: string): string {
  return file.replace(/(-[\w-]{8})?\.c?js$/, "");
}

/** How many bytes of the package those files are. */
async function kilobytes(files: readonly string[]): Promise<number> {
  const all = await readdir(fileURLToPath(DIST), { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    all
      .filter((entry) => /\.c?js$/.test(entry.name))
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        const relative = withoutHash(pathToFileURL(path).href.slice(DIST.length));
        return files.includes(relative) ? (await readFile(path)).length : 0;
      }),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

test("--version loads the program's first file and what it shares, nothing else", async () => {
  expect((await loadedBy("--version")).files).toEqual(["cli/first", "cli/main"]);
});

test("--help loads no more than that, and none of the modules that talk to servers", async () => {
  const { files, builtin } = await loadedBy("--help");
  expect(files).toEqual(["cli/first", "cli/main"]);
  for (const module of ["child_process", "http", "tls", "crypto", "zlib", "vm"]) expect(builtin).not.toContain(module);
});

const NETWORK_MODULES = ["tls", "https", "http", "http2", "dns"];
const FOR_THE_NETWORK = /undici|network|http|sse|yaml|toml|cross-spawn/;

/** What only some servers, files or commands need. Chunks are named after the first module in them. */
const NOT_FOR_A_PIPE =
  /undici|network|http|sse|yaml|toml|schema-validator|schema-check|edit|import|secrets|keychain|registry|doctor|cross-spawn|terminal-questions|src$|dist$/;

test("tools of a server on a pipe needs no HTTP, TLS, YAML, TOML, schema validator or other command", async () => {
  const { files, builtin } = await loadedBy("mcp", "tools");
  expect(files).toContain("cli/mcp-tools");
  expect(files.filter((file) => NOT_FOR_A_PIPE.test(file))).toEqual([]);
  for (const module of [...NETWORK_MODULES, "crypto", "fs/promises", "readline", "worker_threads"])
    expect(builtin).not.toContain(module);
  // Opening files is most of what a short command does: one more has to be worth it.
  expect(files.length, files.join(" ")).toBeLessThanOrEqual(8);
  expect(await kilobytes(files)).toBeLessThan(400);
});

test("a call adds the schema validator, and nothing of the network", async () => {
  const { files, builtin } = await loadedBy("mcp", "call", "demo.add", "--arg", "a=2", "--arg", "b=3");
  expect(files).toContain("cli/schema-validator");
  expect(files.filter((file) => FOR_THE_NETWORK.test(file))).toEqual([]);
  for (const module of NETWORK_MODULES) expect(builtin).not.toContain(module);
});

test("completion of a word starts nothing and reaches nobody", async () => {
  const { files, builtin } = await loadedBy("complete-words", "--", "nexus", "mcp", "to");
  expect(files.filter((file) => FOR_THE_NETWORK.test(file))).toEqual([]);
  for (const module of NETWORK_MODULES) expect(builtin).not.toContain(module);
});
