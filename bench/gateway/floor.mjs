// The least a gateway can do, without any SDK: reads a message, gives it an id of its own, and puts the caller's back
// into the answer. It knows one server, one revision, and trusts everybody. node floor.mjs <settings as JSON>
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { Pool } from "undici";

const { transport, target } = JSON.parse(process.argv[2]);
const upstream = transport === "stdio" ? pipe(target) : http(target);
const SESSION = "11111111-2222-4333-8444-555555555555";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => void pass(JSON.parse(Buffer.concat(chunks).toString()), response));
});
server.listen(0, "127.0.0.1", () => process.send({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
process.on("message", (order) => {
  if (order === "close") process.exit();
});

async function pass(message, response) {
  const { id, method } = message;
  if (id === undefined) {
    void upstream.notify(message);
    response.writeHead(202).end();
    return;
  }
  const answer = await upstream.request(message);
  answer.id = id;
  const text = JSON.stringify(answer);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  if (method === "initialize") headers["mcp-session-id"] = SESSION;
  response.writeHead(200, headers).end(text);
}

function pipe(args) {
  const env = { PATH: process.env.PATH };
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env, detached: true });
  const pending = new Map();
  let lastId = 0;
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const answer = JSON.parse(line);
      pending.get(answer.id)?.(answer);
      pending.delete(answer.id);
    }
  });
  return {
    request(message) {
      message.id = ++lastId;
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return new Promise((resolve) => pending.set(message.id, resolve));
    },
    notify: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
  };
}

function http(url) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let lastId = 0;
  const post = (message) => pool.request({ path, method: "POST", headers, body: JSON.stringify(message) });
  return {
    async request(message) {
      message.id = ++lastId;
      const { body } = await post(message);
      return body.json();
    },
    notify: async (message) => (await post(message)).body.dump(),
  };
}
