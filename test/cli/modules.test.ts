import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { McpServer, serveHttp } from "../../src/server/index.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

const DIST = new URL("../../dist/", import.meta.url).href;
/** The packages in each file: the build writes it. */
const BUNDLED = new URL("../../build/bundled.json", import.meta.url);
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

interface Loaded {
  /** Files of the package. */
  files: string[];
  kilobytes: number;
  /** Packages that are bundled into those files. */
  packages: string[];
  /** Modules of Node. */
  builtin: string[];
}

/** What a command line loads, without what its servers load. One that does not end by itself is ended when it listens. */
async function loadedBy(...args: string[]): Promise<Loaded> {
  const coverage = join(world.root, "coverage");
  const list = join(world.root, "builtin.json");
  const { child, output } = world.start(args, {
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(spy).href}`,
      NEXUS_TEST_SPY: list,
      NODE_V8_COVERAGE: coverage,
    },
  });
  child.stdin?.end();
  const closed = once(child, "close");
  const listens = args.includes("--port");
  if (listens) await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain("Ctrl-C");
  if (listens) child.kill("SIGTERM");
  expect(await closed).toEqual([0, null]);
  // Node hands NODE_V8_COVERAGE on to every child: the files are told apart by the number of the process.
  const [name = ""] = (await readdir(coverage)).filter((file) => file.startsWith(`coverage-${child.pid}-`));
  const { result } = JSON.parse(await readFile(join(coverage, name), "utf8")) as { result: { url: string }[] };
  const files = result.map(({ url }) => url).filter((url) => url.startsWith(DIST));
  const texts = await Promise.all(files.map((url) => readFile(fileURLToPath(url), "utf8")));
  const bundled = JSON.parse(await readFile(BUNDLED, "utf8")) as Record<string, string[]>;
  const packages = [...new Set(files.flatMap((url) => bundled[url.slice(DIST.length)] ?? []))].toSorted();
  const builtin = (JSON.parse(await readFile(list, "utf8")) as string[])
    .filter((entry) => entry.startsWith("NativeModule "))
    .map((entry) => entry.slice("NativeModule ".length));
  return { files, kilobytes: texts.join("").length / 1024, packages, builtin };
}

const NETWORK_MODULES = ["tls", "https", "http", "http2", "dns"];

test.each(["--version", "--help"])("%s loads two small files and no module that talks to servers", async (flag) => {
  const { files, kilobytes, builtin } = await loadedBy(flag);
  expect(files.length, files.join(" ")).toBeLessThanOrEqual(2);
  expect(kilobytes).toBeLessThan(25);
  for (const module of ["child_process", "http", "tls", "crypto", "zlib", "vm"]) expect(builtin).not.toContain(module);
});

test("tools of a server on a pipe loads few files, and nothing of HTTP, TLS, YAML or schemas", async () => {
  const { files, packages, builtin } = await loadedBy("mcp", "tools");
  expect(files.length, files.join(" ")).toBeLessThanOrEqual(8);
  expect(packages).toEqual(["jsonc-parser"]);
  for (const module of [...NETWORK_MODULES, "crypto", "readline", "worker_threads"])
    expect(builtin).not.toContain(module);
});

test("tools of a server over HTTP that requires no login loads nothing of OAuth", async () => {
  await using server = await serveHttp(new McpServer({ name: "open", version: "1.0.0" }));
  const { files, packages } = await loadedBy("mcp", "tools", "--url", server.url);
  expect(packages).toContain("undici");
  for (const name of ["oauth4webapi", "jose"]) expect(packages, files.join(" ")).not.toContain(name);
});

test("a call of a tool loads the schema validator besides, and nothing of the network", async () => {
  const { packages, builtin } = await loadedBy("mcp", "call", "demo.add", "--arg", "a=2", "--arg", "b=3");
  expect(packages).toEqual(["@cfworker/json-schema", "jsonc-parser"]);
  for (const module of NETWORK_MODULES) expect(builtin).not.toContain(module);
});

test("completion of a word loads nothing of the network", async () => {
  const { packages, builtin } = await loadedBy("complete-words", "--", "nexus", "mcp", "to");
  expect(packages).toEqual(["jsonc-parser"]);
  for (const module of NETWORK_MODULES) expect(builtin).not.toContain(module);
});

test("the gateway on a pipe loads nothing of the store", async () => {
  const { packages } = await loadedBy("serve", "--stdio");
  expect(packages).not.toContain("kysely");
});

test("the gateway with its store loads few files, and one of two SQL libraries", async () => {
  const { files, packages } = await loadedBy("serve", "--port", "0");
  expect(files.length, files.join(" ")).toBeLessThanOrEqual(24);
  expect(packages).toContain("kysely");
  for (const name of ["pg", "undici", "yaml"]) expect(packages).not.toContain(name);
});

test.each(["index.js", "gateway/index.js", "server/index.js", "testing/index.js"])(
  "the library %s loads nothing of the store and of the command line",
  async (entry) => {
    const files = new Set([new URL(entry, DIST).href]);
    for (const file of files) {
      const text = await readFile(fileURLToPath(file), "utf8");
      for (const [, path = ""] of text.matchAll(/(?:\bfrom|^import|;import) ?"(\.[^"]+)"/gm))
        files.add(new URL(path, file).href);
    }
    expect(files.size).toBeGreaterThan(3);
    for (const file of files) expect(file).not.toMatch(/chunks\/(?:command|database|store|team)-/);
  },
);
