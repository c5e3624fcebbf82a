import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { VERSION } from "../../src/protocol/version.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const npm = (args: string[], cwd: string) => run("npm", args, { cwd });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-package-"));
  const { stdout } = await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], root);
  const packed = JSON.parse(stdout) as { filename: string }[] | Record<string, { filename: string }>;
  const [{ filename } = { filename: "" }] = Object.values(packed);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await npm(["install", "--offline", "--omit=optional", "--no-audit", "--no-fund", `./${filename}`], folder);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test("the packed package installs alone, without network and without its optional parts", async () => {
  const installed = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
  expect(installed).toEqual(["nexus-mcp"]);
  const files = await readdir(join(folder, "node_modules/nexus-mcp"), { recursive: true });
  expect(files).toContain("dist/THIRD-PARTY-LICENCES.md");
  // The tests in templates are for the projects that are made of them.
  expect(files.filter((file) => !file.startsWith("templates") && /\.test\.|fixtures|\.map$/.test(file))).toEqual([]);
});

test("N14: the links of every document in the package lead to a file in the package", async () => {
  const installed = join(folder, "node_modules/nexus-mcp");
  const files = new Set(await readdir(installed, { recursive: true }));
  const documents = [...files].filter((file) => file.endsWith(".md") && !file.startsWith("dist"));
  expect(documents).toEqual(expect.arrayContaining(["README.md", "CHANGELOG.md", "docs/guide/client.md"]));
  const dead: string[] = [];
  for (const document of documents) {
    const text = await readFile(join(installed, document), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)) {
      if (!files.has(join(dirname(document), target))) dead.push(`${document}: ${target}`);
    }
  }
  expect(dead).toEqual([]);
});

test("the installed command says its version, which is the same everywhere", async () => {
  const { stdout } = await run(join(folder, "node_modules/.bin/nexus"), ["--version"]);
  expect(stdout.trim()).toBe(manifest.version);
  expect(VERSION).toBe(manifest.version);
});

test("the installed library connects to the installed demo server", async () => {
  const program = `
    import { connect } from "nexus-mcp";
    const client = await connect({ command: process.execPath, args: ["node_modules/nexus-mcp/dist/demo/main.js"] });
    const { content } = await client.callTool("add", { a: 2, b: 3 });
    await client.close();
    console.log(client.era, content[0].text);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
  expect(stdout).toMatch(/^modern .*5/);
});

const IN_MEMORY = `
  import { connect, MemoryTransport } from "nexus-mcp";
  import { McpServer, serveMemory } from "nexus-mcp/server";
  import { ScriptedServer } from "nexus-mcp/testing";
  const server = new McpServer({ name: "own", version: "1.0.0" });
  server.tool({ name: "wait" }, () => new Promise(() => {})).tool({ name: "hi" }, () => "hi");
  const scripted = new ScriptedServer({ tools: { wait: () => new Promise(() => {}), hi: () => "hi" } });
  const transports = [scripted.transport, new MemoryTransport((end) => serveMemory(server, end))];
  for (const transport of transports) {
    const client = await connect(transport);`;

test("a call on a connection in memory times out, though nothing else keeps the process alive", async () => {
  const program = `${IN_MEMORY}
    await client.callTool("wait", {}, { timeoutMs: 50 }).catch((error) => console.log(error.code));
  }`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
  expect(stdout).toBe("TIMEOUT\nTIMEOUT\n");
});

test("a client in memory keeps no process alive when its calls have ended, while it is subscribed, or after it is closed", async () => {
  const hour = "{ timeoutMs: 3_600_000 }";
  const program = `${IN_MEMORY}
    const open = await connect(transport, { timeoutMs: 3_600_000 });
    await open.subscribe({ lists: ["tools"] }, () => {});
    await open.callTool("hi");
    await client.callTool("hi", {}, ${hour});
    const closed = await connect(transport);
    const waiting = closed.callTool("wait", {}, ${hour});
    await closed.close();
    await waiting.catch((error) => console.log(error.code));
    await closed.callTool("hi", {}, ${hour}).catch((error) => console.log(error.code));
    await client.subscribe({ lists: ["tools"] }, () => {});
  }`;
  const ran = run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, timeout: 100_000 });
  expect((await ran).stdout).toBe("CLOSED\n".repeat(4));
});

test("editors find the JSON Schema of tool files in the installed package", async () => {
  const program = `
    import { createRequire } from "node:module";
    console.log(createRequire(process.cwd() + "/x.js")("nexus-mcp/tool-file.schema.json").title);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
  expect(stdout.trim()).toBe("Nexus tool file");
});

test("the published types name no package that users do not have", async () => {
  const seen = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(file, "utf8");
    const named = [...text.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name);
    const foreign = named.filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
    expect(foreign, file).toEqual([]);
    for (const name of named.filter((each) => each.startsWith("."))) {
      await visit(join(dirname(file), name.replace(/\.ts$/, ".d.ts")));
    }
  };
  for (const entry of ["index", "gateway/index", "testing/index"]) await visit(join(root, "dist", `${entry}.d.ts`));
  expect(seen.size).toBeGreaterThan(20);
});
