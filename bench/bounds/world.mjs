// A gateway in a process of its own, with an API made of a tool file and an MCP server behind it, both of which answer what they
// are told to.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { respond } from "../servers/echo.mjs";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const WATCH = new URL("watch.mjs", import.meta.url).href;
const TOOL_FILE = fileURLToPath(new URL("bounds.nexus.yaml", import.meta.url));

export async function openWorld({ program = PROGRAM } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "nexus-bounds-"));
  const env = { ...process.env, HOME: folder, USERPROFILE: folder };
  for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "NEXUS_DATABASE"]) delete env[name];
  const upstream = await openUpstream();
  const toolFile = join(folder, "bounds.nexus.yaml");
  await cp(TOOL_FILE, toolFile);
  const run = (...args) => promisify(execFile)(process.execPath, [program, ...args], { env, cwd: folder });
  await run("api", "approve", toolFile, "--by", "Bench", "--yes");
  const secret = promisify(execFile)(process.execPath, [program, "secrets", "set", "bounds.key"], { env, cwd: folder });
  secret.child.stdin.end("k-41-of-the-bench\n");
  await secret;
  await run("secrets", "allow", "bounds.key", new URL(upstream.url).origin);
  const config = join(folder, "mcp.json");
  const mcpServers = {
    bounds: { api: toolFile, upstream: upstream.url },
    far: { url: `${upstream.url}mcp` },
  };
  await writeFile(config, JSON.stringify({ mcpServers }));
  const words = ["keys", "create", "bench", "--role", "admin", "--allow", "*", "--json"];
  const { key } = JSON.parse((await run(...words)).stdout);
  const gateway = await startGateway(program, { args: ["--config", config], env, folder });
  const parser = startWatched(fileURLToPath(new URL("watch.mjs", import.meta.url)), [], {
    execArgv: ["--expose-gc"],
  });
  return {
    folder,
    upstream,
    gateway,
    parser,
    key,
    run,
    measured: (...args) => measured(program, args, { env, cwd: folder }),
    async close() {
      await gateway.close();
      await parser.close();
      await upstream.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Says at the end what a process has used: time of the processor, and the most memory. */
const MEASURE = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from "node:fs"; import { isMainThread } from "node:worker_threads";
  if (isMainThread) process.on("exit", () => { const { user, system } = process.cpuUsage();
  writeSync(2, "\\nUSED " + JSON.stringify({ ms: (user + system) / 1000, bytes: process.resourceUsage().maxRSS * 1024 })); });`,
)}`;

/** Runs a command; what it used, and how it ended. */
async function measured(program, args, options) {
  const { code, stderr } = await promisify(execFile)(process.execPath, ["--import", MEASURE, program, ...args], {
    ...options,
    maxBuffer: 1 << 28,
  }).then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error,
  );
  return { ...JSON.parse(/USED (\{[^}]*\})/.exec(stderr)?.[1] ?? '{"ms":null}'), said: `exit ${code}` };
}

async function startGateway(program, { args, env, folder }) {
  const started = startWatched(program, ["serve", "--port", "0", ...args], {
    execArgv: ["--expose-gc", "--import", WATCH],
    env,
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const { child } = started;
  const said = [];
  child.stderr.on("data", (piece) => said.push(String(piece)));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /(http:\/\/[^/\s]+)/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return { ...started, url, said };
  }
  throw new Error(`The gateway did not start: ${said.join("")}`);
}

/** A process that answers what `watch.mjs` can be asked. */
function startWatched(program, args, options) {
  const child = fork(program, args, options);
  const ended = once(child, "exit");
  const ask = async (question) => {
    const answered = once(child, "message");
    child.send(question);
    const [answer] = await Promise.race([answered, ended.then(() => Promise.reject(new Error("The process ended")))]);
    return answer;
  };
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { child, ask, close };
}

/** Answers requests of the API, and tools/call at /mcp, with what `answer` was set to last. */
async function openUpstream() {
  const world = { answer: undefined };
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const { type = "application/json", body = "{}" } = world.answer ?? {};
      if (request.url !== "/mcp") return void response.writeHead(200, { "content-type": type }).end(body);
      const message = request.method === "POST" ? JSON.parse(Buffer.concat(pieces).toString()) : {};
      const isCall = message.method === "tools/call";
      const text = isCall ? `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${body}}` : respond(message);
      if (text === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(world, {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
