// What each runtime has to do, run by it against dist/: one line of JSON for each case. Started by run.mjs, with a folder of its
// own and the words that start another program in the same runtime.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect, Host } from "../../dist/index.js";
import { connect as connectWithFetch } from "../../dist/client/index.js";
import { McpServer, serveHttp } from "../../dist/server/index.js";
import { ScriptedServer } from "../../dist/testing/index.js";

const { folder, start } = JSON.parse(process.argv[2]);
const DEMO = "dist/demo/main.js";
const CLI = "dist/cli/main.js";
const INPUT = {
  capabilities: { elicitation: { form: {} } },
  handle: () => ({ action: "accept", content: { name: "Ada", confirm: true } }),
};

/** A server in a child process of the same runtime. */
const demo = (...args) => ({ command: start[0], args: [...start.slice(1), DEMO, ...args] });

const CASES = {
  "client, memory": async () => {
    const server = new ScriptedServer({ tools: { greet: ({ name }) => `Hello, ${String(name)}` } });
    const client = await connect(server.transport);
    assert.equal((await client.callTool("greet", { name: "Ada" })).content[0].text, "Hello, Ada");
    await client.close();
  },
  "client, stdio, modern": () => useDemo(demo()),
  "client, stdio, legacy": () => useDemo(demo("--legacy")),
  "client, stdio, a server that ends": async () => {
    await assert.rejects(connect({ command: start[0], args: [...start.slice(1), "no-such-file.js"] }), {
      code: "SERVER_EXITED",
    });
  },
  "server and client, HTTP, modern": () => overHttp(["2026-07-28"], connect),
  "server and client, HTTP, legacy": () => overHttp(["2025-11-25"], connect),
  "nexus-mcp/client, modern": () => overHttp(["2026-07-28"], connectWithFetch),
  "nexus-mcp/client, legacy": () => overHttp(["2025-11-25"], connectWithFetch),
  "nexus-mcp/client, nobody listens": async () => {
    await assert.rejects(connectWithFetch({ url: "http://127.0.0.1:9/mcp" }), { code: "CONNECTION_FAILED" });
  },
  "internal addresses are refused": async () => {
    await assert.rejects(connect({ url: "http://127.0.0.1:9/mcp" }, { publicOnly: true }), { code: "ADDRESS_REFUSED" });
  },
  "closing ends what a server has started": async () => {
    const file = join(folder, "started.pid");
    const script = `sleep 300 & echo $! >"$0"; exec "$@"`;
    const client = await connect({ command: "sh", args: ["-c", script, file, ...start, DEMO] });
    const pid = Number(await readFile(file, "utf8"));
    await client.close();
    await until(() => !isRunning(pid));
  },
  "a certificate of an own authority": async () => {
    const made = await certificate();
    // Without openssl there is none.
    if (!made) return;
    const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32600, message: "not a server" } });
    const server = createServer(made, (_req, res) => res.writeHead(401).end(answer)).listen(0, "localhost");
    await once(server, "listening");
    const entry = { url: `https://localhost:${server.address().port}/mcp` };
    await assert.rejects(connect(entry, { ca: [made.cert] }), { code: "AUTH_REQUIRED" });
    await assert.rejects(connect(entry), { code: "CONNECTION_FAILED" });
    server.close();
  },
  "host, stdio and HTTP": async () => {
    const serving = await serveHttp(greeter(), { port: 0 });
    const host = await Host.open({
      servers: { pipe: demo(), http: { url: serving.url } },
      stateFolder: join(folder, "state"),
    });
    await host.ready();
    assert.deepEqual([...new Set(host.tools().map(({ server }) => server))], ["pipe", "http"]);
    assert.equal((await host.callTool("http.greet", { name: "Ada" })).content[0].text, "Hello, Ada!");
    assert.match((await host.callTool("pipe.add", { a: 2, b: 3 })).content[0].text, /5/);
    await host.close();
    await serving.close();
  },
  "command line": async () => {
    const config = await configuration();
    assert.match(await cli("--version"), /\d+\.\d+\.\d+/);
    const { items } = JSON.parse(await cli("mcp", "tools", "--config", config, "--json"));
    assert.ok(items.some(({ name }) => name === "add"));
    const called = JSON.parse(
      await cli("mcp", "call", "demo.add", "--arg", "a=2", "--arg", "b=3", "--config", config, "--json"),
    );
    assert.equal(called.structuredContent.sum, 5);
  },
  "workshop: a manual is read in a thread, a fake is called": async () => {
    const out = join(folder, "draft");
    assert.match(await cli("api", "import", "api/capcorn/manual.md", "--name", "hotel", "--out", out), /2 tools/);
    assert.match(await cli("api", "test", "api/capcorn"), /passed/);
  },
  "gateway, API keys in SQLite": async () => {
    const config = await configuration();
    const database = `file:${join(folder, "nexus.db")}`;
    const created = await cli(
      "keys",
      "create",
      "ci",
      "--allow",
      "*",
      "--database",
      database,
      "--config",
      config,
      "--json",
    );
    const { key } = JSON.parse(created);
    const gateway = cliProcess("serve", "--port", "0", "--database", database, "--config", config);
    try {
      const url = await listening(gateway);
      await assert.rejects(connect({ url }), { code: "AUTH_REQUIRED" });
      const headers = { Authorization: `Bearer ${key}` };
      const entries = [
        { url, headers },
        { url: new URL("/sse", url).href, type: "sse", headers },
      ];
      for (const [open, entry] of [connect, connectWithFetch].flatMap((open) => entries.map((each) => [open, each]))) {
        const client = await open(entry);
        assert.equal((await client.callTool("demo__add", { a: 2, b: 3 })).structuredContent.sum, 5);
        await client.close();
      }
    } finally {
      gateway.kill("SIGTERM");
      await once(gateway, "exit");
    }
    const { items } = JSON.parse(await cli("audit", "list", "--database", database, "--config", config, "--json"));
    assert.ok(items.some(({ target, outcome }) => target === "demo__add" && outcome === "ok"));
  },
};

for (const [name, run] of Object.entries(CASES)) {
  const begun = performance.now();
  const problem = await within(run(), 40_000).catch((error) => error);
  const reason = problem && String(problem?.stack ?? problem).slice(0, 1_500);
  console.log(JSON.stringify({ name, ms: Math.round(performance.now() - begun), ...(problem && { reason }) }));
}
// What a failed case left open must not keep the program alive.
process.exit(0);

async function useDemo(entry) {
  const client = await connect(entry, { input: INPUT });
  const tools = await client.listTools();
  assert.ok(tools.length > 3);
  assert.equal((await client.callTool("add", { a: 2, b: 3 })).structuredContent.sum, 5);
  assert.match((await client.callTool("ask_name", {})).content[0].text, /Ada/);
  assert.ok((await client.listResources()).length > 0);
  await client.close();
}

async function overHttp(revisions, open) {
  const serving = await serveHttp(greeter(revisions), { port: 0 });
  const client = await open({ url: serving.url }, { input: INPUT });
  assert.equal(client.protocolVersion, revisions[0]);
  const names = ["Ada", "Grace", "Grüße"];
  const results = await Promise.all(names.map((name) => client.callTool("greet", { name })));
  assert.deepEqual(
    results.map(({ content }) => content[0].text),
    names.map((name) => `Hello, ${name}!`),
  );
  const seen = [];
  await client.callTool("count", { to: 3 }, { onProgress: ({ progress }) => void seen.push(progress) });
  assert.deepEqual(seen, [1, 2, 3]);
  const stop = new AbortController();
  const waiting = client.callTool("wait", {}, { signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, { code: "CANCELLED" });
  await client.close();
  await serving.close();
}

function greeter(revisions) {
  const server = new McpServer({ name: "greetings", version: "1.0.0", ...(revisions && { revisions }) });
  const inputSchema = { type: "object" };
  server.tool({ name: "greet", inputSchema }, ({ name }) => `Hello, ${String(name)}!`);
  server.tool({ name: "count", inputSchema }, ({ to }, context) => {
    for (let at = 1; at <= to; at++) context.progress({ progress: at, total: to });
    return "counted";
  });
  server.tool({ name: "wait", inputSchema }, (_args, { signal }) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
  });
  return server;
}

async function configuration() {
  const file = join(folder, "mcp.json");
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify({ mcpServers: { demo: demo() } }));
  return file;
}

/** The program's own folders are below that of the test. */
function cliProcess(...args) {
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", XDG_DATA_HOME: "" };
  return spawn(start[0], [...start.slice(1), CLI, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function cli(...args) {
  const child = cliProcess(...args);
  let [out, problems] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (problems += text));
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${args.join(" ")} exited with ${code}: ${problems}`);
  return out;
}

async function listening(child) {
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (problems += text));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (http:\S+)/.exec(line)?.[1];
    if (url) return url;
  }
  throw new Error(`the gateway ended before it listened: ${problems}`);
}

/** A key and a certificate for localhost; undefined without openssl. */
async function certificate() {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"];
  const child = spawn("openssl", [...words, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  const code = await new Promise((resolve) => child.once("error", () => resolve(1)).once("close", resolve));
  return code === 0 ? { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") } : undefined;
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function within(promise, ms) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
