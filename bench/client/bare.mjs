import { spawn } from "node:child_process";
import { once } from "node:events";
import { Pool } from "undici";

const clientInfo = { name: "bench", version: "1" };

/** What a careful engineer would write for this one server: right ids, errors and both kinds of answer, and no more. */
export async function open({ transport, era, version, target }) {
  const wire = transport === "stdio" ? openStdio(target) : openHttp(target, { modern: era === "modern", version });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
  const request = (method, params) => wire.request(method, era === "modern" ? { ...params, _meta: meta } : params);

  if (era === "legacy") {
    await request("initialize", { protocolVersion: version, capabilities: {}, clientInfo });
    await wire.notify("notifications/initialized");
  }
  const listTools = async () => {
    const tools = [];
    for (let params = {}; ;) {
      const page = await request("tools/list", params);
      tools.push(...page.tools);
      if (page.nextCursor === undefined) return tools;
      params = { cursor: page.nextCursor };
    }
  };
  await listTools();
  return {
    call: (name, args) => request("tools/call", { name, arguments: args }),
    listTools,
    close: () => wire.close(),
  };
}

function openStdio(target) {
  // A short environment and a session of its own, as the others give their servers: some variables make node start
  // slowly, and schedulers share the processor out by session.
  const env = { PATH: process.env.PATH };
  const child = spawn(process.execPath, target, { stdio: ["pipe", "pipe", "inherit"], env, detached: true });
  const pending = new Map();
  let lastId = 0;
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    // A long line comes in many chunks: splitting what has come each time would be quadratic.
    if (!chunk.includes("\n")) {
      rest += chunk;
      return;
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) receive(JSON.parse(line));
  });
  child.once("exit", () => {
    for (const { reject } of pending.values()) reject(new Error("the server ended"));
  });

  function receive(message) {
    const waiting = pending.get(message.id);
    if (!waiting) return;
    pending.delete(message.id);
    settle(message, waiting);
  }
  return {
    request(method, params) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject });
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      });
    },
    async notify(method) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`);
    },
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

function openHttp(target, { modern, version }) {
  const { origin, pathname: path } = new URL(target);
  const pool = new Pool(origin);
  let lastId = 0;
  let session;

  async function post(message) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    if (modern) {
      headers["mcp-protocol-version"] = version;
      headers["mcp-method"] = message.method;
      if (message.params.name !== undefined) headers["mcp-name"] = message.params.name;
    } else if (session) {
      headers["mcp-protocol-version"] = version;
      headers["mcp-session-id"] = session;
    }
    const response = await pool.request({ path, method: "POST", headers, body: JSON.stringify(message) });
    if (response.statusCode >= 400) throw new Error(`HTTP ${response.statusCode}: ${await response.body.text()}`);
    session ??= response.headers["mcp-session-id"];
    return response;
  }
  return {
    async request(method, params) {
      const id = ++lastId;
      const { headers, body } = await post({ jsonrpc: "2.0", id, method, params });
      const message = headers["content-type"].startsWith("text/event-stream")
        ? await responseIn(body, id)
        : await body.json();
      return new Promise((resolve, reject) => settle(message, { resolve, reject }));
    },
    async notify(method) {
      const { body } = await post({ jsonrpc: "2.0", method, params: {} });
      await body.dump();
    },
    close: () => pool.close(),
  };
}

/** Events end with an empty line; the response is the one with the request's id. */
async function responseIn(body, id) {
  let rest = "";
  body.setEncoding("utf8");
  for await (const chunk of body) {
    if (!chunk.includes("\n")) {
      rest += chunk;
      continue;
    }
    const events = (rest + chunk).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5));
      const message = data.length > 0 ? JSON.parse(data.join("\n")) : {};
      if (message.id === id) return message;
    }
  }
  throw new Error("the stream ended without a response");
}

function settle(message, { resolve, reject }) {
  if (message.error) reject(new Error(message.error.message));
  else resolve(message.result);
}
