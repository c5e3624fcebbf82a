// Which files and functions of src run for one thing that people do: counted by V8, in a build with a file for each module.
// A function counts if every try ran it; a file counts if one of its functions does, not if it was only loaded. `--check`
// fails where a number is above its ceiling in scripts/ceilings.json, `--lower` lowers ceilings to what is counted,
// `--list WALK` prints the functions of one: tools, call, client, gateway, api.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { loadConfig } from "rolldown/config";
import { reportNumbers } from "./ceilings.mjs";

const run = promisify(execFile);
const BUILT = resolve("build/walk");
const BUILT_URL = `${pathToFileURL(BUILT).href}/`;
const MAIN = join(BUILT, "cli/main.js");
const PROBE = pathToFileURL(resolve("scripts/coverage-probe.mjs")).href;
const ECHO = { command: process.execPath, args: [resolve("bench/servers/echo-stdio.mjs")] };
const API = resolve("api/museum");
/** What timers do meanwhile is in some tries only. */
const TRIES = { command: 3, call: 7 };
/** A call runs some functions only the first times. */
const WARM_UPS = 3;
/**
 * What follows a call at once, such as giving back its connection, belongs to it. What is done for many calls, as records
 * of the audit are written, does not: it is over before the next try. So long after the call before, limits are counted
 * one by one in the store.
 */
const FOLLOWS_MS = 40;
const OVER_MS = 250;

const WALKS = { tools: walkTools, call: walkMcpCall, client: walkClient, gateway: walkGateway, api: walkApi };

const LABELS = {
  toolsFiles: "mcp tools: files that run",
  toolsFunctions: "mcp tools: functions that run",
  callFiles: "mcp call: files that run",
  callFunctions: "mcp call: functions that run",
  clientFiles: "client.callTool: files that run",
  clientFunctions: "client.callTool: functions that run",
  gatewayFiles: "a gateway call with key, limits and audit: files that run",
  gatewayFunctions: "a gateway call with key, limits and audit: functions that run",
  gatewayDecisions: "a gateway call with key, limits and audit: decisions of the policy",
  gatewayPrefixLookups: "a gateway call with key, limits and audit: look-ups of the prefix",
  apiFiles: "a call of a tool file's tool: files that run",
  apiFunctions: "a call of a tool file's tool: functions that run",
};

/** What is counted by how often it runs. A name that is not found any more must be replaced here by what it became. */
const DECISION = { file: "host/directory/policy.ts", name: "decide" };
const PREFIX_LOOKUP = { file: "host/directory/server-directory.ts", name: "findIdByPrefix" };

await build();
const home = await mkdtemp(join(tmpdir(), "nexus-walk-"));
try {
  await mkdir(join(home, ".nexus"));
  const listAt = process.argv.indexOf("--list");
  if (listAt !== -1) printWalk(await WALKS[process.argv[listAt + 1]]());
  else reportNumbers(await measure(), LABELS);
} finally {
  await rm(home, { recursive: true, force: true });
}

async function measure() {
  const walks = {};
  for (const [name, walk] of Object.entries(WALKS)) walks[name] = await walk();
  const counts = Object.entries(walks).flatMap(([name, walk]) => [
    [`${name}Files`, new Set(walk.map(({ file }) => file)).size],
    [`${name}Functions`, walk.length],
  ]);
  return {
    ...Object.fromEntries(counts),
    gatewayDecisions: timesOf(walks.gateway, DECISION),
    gatewayPrefixLookups: timesOf(walks.gateway, PREFIX_LOOKUP),
  };
}

function timesOf(walk, { file, name }) {
  const found = walk.find((each) => each.file === file && each.functionName === name);
  if (!found) throw new Error(`${name} of src/${file} did not run: correct scripts/walk.mjs`);
  return found.count;
}

/** The package with a file for each file of src. */
async function build() {
  const [{ output, plugins: _licences, ...published }] = await loadConfig("rolldown.config.ts");
  // What is made smaller has fewer functions than the source.
  const { codeSplitting: _shared, chunkFileNames: _names, minify: _small, ...rest } = output;
  const whole = { preserveModules: true, preserveModulesRoot: "src", entryFileNames: "[name].js" };
  const bundle = await rolldown({ logLevel: "silent", ...published });
  await bundle.write({ ...rest, dir: BUILT, ...whole });
  await bundle.close();
}

/** The functions of src that ran, each with how often. The first "function" of a file is the file. */
function functionsIn(result) {
  return result
    .filter(({ url }) => url.startsWith(BUILT_URL) && !/[/](node_modules|_virtual)[/]/.test(url))
    .flatMap(({ url, functions }) => {
      const file = url.slice(BUILT_URL.length).replace(/\.js$/, ".ts");
      return functions
        .map(({ functionName, ranges: [{ count, startOffset }] }) => ({ file, functionName, count, startOffset }))
        .filter(({ count, functionName, startOffset }) => count > 0 && (functionName !== "" || startOffset > 0));
    });
}

/** The functions that ran in all tries, with the fewest times each. */
function inAll([first, ...others]) {
  const keyOf = ({ file, startOffset }) => `${file}:${startOffset}`;
  const counts = others.map((walk) => new Map(walk.map((each) => [keyOf(each), each.count])));
  return first
    .map((each) => ({ ...each, count: Math.min(each.count, ...counts.map((ran) => ran.get(keyOf(each)) ?? 0)) }))
    .filter(({ count }) => count > 0);
}

async function walkTools() {
  return walkCommand("mcp", "tools");
}

async function walkMcpCall() {
  return walkCommand("mcp", "call", "echo.echo", "text=hello");
}

/** One command from its start to its end. The first one writes what Node keeps of the compiled files, and so on. */
async function walkCommand(...args) {
  await writeConfig();
  const walks = [];
  for (let tries = 0; tries < TRIES.command; tries++) {
    const coverage = await mkdtemp(join(home, "coverage-"));
    await run(process.execPath, [MAIN, ...args], { cwd: home, env: { ...environment(), NODE_V8_COVERAGE: coverage } });
    const reports = await Promise.all((await readdir(coverage)).map((file) => readFile(join(coverage, file), "utf8")));
    // The server that it starts writes a report as well, with no functions of src.
    walks.push(reports.flatMap((text) => functionsIn(JSON.parse(text).result)));
  }
  return inAll(walks);
}

/** A call of a program that uses the library. */
async function walkClient() {
  return walkProgram(`
    import { connect } from ${JSON.stringify(`${BUILT_URL}index.js`)};
    const client = await connect(${JSON.stringify(ECHO)});
    const call = () => client.callTool("echo", { text: "x" });
    const close = () => client.close();
  `);
}

/** A call of a tool of an API, as an MCP client makes it in the same process, and a service that answers from its manual. */
async function walkApi() {
  const manual = await readFile(join(API, "manual.md"), "utf8");
  const [, answer] = /^```json\n([^]*?)^```$/m.exec(manual);
  const service = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json").end(answer);
  });
  await once(service.listen(0, "127.0.0.1"), "listening");
  const upstream = `http://127.0.0.1:${service.address().port}/`;
  try {
    return await walkProgram(`
      import { connect } from ${JSON.stringify(`${BUILT_URL}index.js`)};
      import { ApiRunner, apiServer, loadApi, transportTo } from ${JSON.stringify(`${BUILT_URL}workshop/index.js`)};
      const { api, documents } = await loadApi(${JSON.stringify(join(API, "museum.nexus.yaml"))});
      const runner = new ApiRunner(api, { upstream: ${JSON.stringify(upstream)}, settings: {}, secrets: async () => "x" });
      const client = await connect(transportTo(apiServer(runner, { documents })));
      const call = () => client.callTool("find_exhibitions", { on: "2026-05-02", tags: ["salt"] });
      const close = async () => (await client.close(), await runner.close());
    `);
  } finally {
    service.closeAllConnections();
    service.close();
  }
}

/** A program that has `call` and `close`. */
async function walkProgram(program) {
  const file = join(home, "program.mjs");
  const obeys = `
    process.on("message", async (order) => {
      if (order === "call") {
        const { isError } = await call();
        process.send(isError ? "failed" : "called");
      }
      if (order === "close") await close().then(() => process.disconnect());
    });
    process.channel.ref();
    process.send("ready");
  `;
  await writeFile(file, program + obeys);
  const child = fork(file, [], { execArgv: ["--import", PROBE] });
  try {
    await nextMessage(child);
    return await walkCalls(child, async () => {
      if ((await ask(child, "call")) !== "called") throw new Error("The tool reported an error");
    });
  } finally {
    if (child.connected) child.send("close");
    if (child.exitCode === null) await once(child, "exit");
  }
}

/** `nexus serve` with a key that has limits, and with the audit. */
async function walkGateway() {
  await writeConfig({ gateway: { audit: { enabled: true } } });
  const env = { ...environment(), NEXUS_DATABASE: `file:${join(home, "nexus.db")}` };
  const limits = ["--rate", "1000000/s", "--per-day", "100000000", "--concurrent", "100", "--max-request", "1000000"];
  const create = [MAIN, "keys", "create", "walk", "--allow", "echo", ...limits];
  const { stdout: key } = await run(process.execPath, create, { cwd: home, env });
  const child = fork(MAIN, ["serve", "--port", "0", "--json", "--auth", "keys"], {
    cwd: home,
    env,
    execArgv: ["--import", PROBE],
    silent: true,
  });
  child.stderr.pipe(process.stderr);
  try {
    const [line] = await once(child.stdout.setEncoding("utf8"), "data");
    const { url } = JSON.parse(line.split("\n")[0]);
    return await walkCalls(child, () => callOverHttp(url, key.trim()));
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}

async function callOverHttp(url, key) {
  const version = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "walk", version: "1" },
  };
  const params = { name: "echo__echo", arguments: { text: "x" }, _meta: meta };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${key}`,
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": params.name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('"x"')) throw new Error(`HTTP ${response.status}: ${text}`);
}

async function walkCalls(child, call) {
  const walks = [];
  for (let tries = -WARM_UPS; tries < TRIES.call; tries++) {
    await pause(OVER_MS);
    await ask(child, "count");
    await call();
    await pause(FOLLOWS_MS);
    const { result } = await ask(child, "counted");
    if (tries >= 0) walks.push(functionsIn(result));
  }
  return inAll(walks);
}

async function ask(child, order) {
  const answer = nextMessage(child);
  child.send(order);
  return answer;
}

/** Fails where the process ends instead. */
async function nextMessage(child) {
  const settled = new AbortController();
  const ended = once(child, "exit", settled).then(() => {
    throw new Error("The process that is counted ended");
  });
  ended.catch(() => {});
  const [answer] = await Promise.race([once(child, "message", settled), ended]);
  settled.abort();
  return answer;
}

async function writeConfig(more = {}) {
  await writeFile(join(home, ".nexus/mcp.json"), JSON.stringify({ mcpServers: { echo: ECHO }, ...more }));
}

function environment() {
  return { PATH: process.env.PATH, HOME: home, TERM: "dumb" };
}

function printWalk(walk) {
  const byFile = new Map();
  for (const { file, functionName, startOffset, count } of walk) {
    const name = functionName === "" ? `(at ${startOffset})` : functionName;
    byFile.set(file, [...(byFile.get(file) ?? []), count === 1 ? name : `${name} ×${count}`]);
  }
  for (const [file, names] of [...byFile].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${file}: ${names.join(", ")}`);
  console.log(`${byFile.size} files, ${walk.length} functions`);
}
