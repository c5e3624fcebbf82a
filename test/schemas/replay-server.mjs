// Says what it is told to, and tells what it heard: node replay-server.mjs [--http] [--capabilities JSON]
// A request with `replay` (in its parameters or arguments) names what to answer, to send first, or to ask.
// Everything else is answered with what was received.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { http: { type: "boolean", default: false }, capabilities: { type: "string", default: "{}" } },
});
const capabilities = JSON.parse(values.capabilities);
const DISCOVERY = { resultType: "complete", supportedVersions: ["2026-07-28"], ttlMs: 0, cacheScope: "private" };
const serverInfo = { name: "replay", version: "1" };
const waiting = new Map();
/** What the client said when it opened the session. */
let introduction;

function receive(message, send) {
  const { id, method, params } = message;
  if (method === undefined) {
    waiting.get(id)?.(message.result ?? message.error);
    return;
  }
  if (id === undefined) return;
  const answer = (body) => send({ jsonrpc: "2.0", id, ...body });
  const replay = params?.replay ?? params?.arguments?.replay;
  if (replay) perform(replay, params, { answer, send });
  else if (method === "initialize") {
    introduction = params;
    answer({ result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method === "replay/introduction") answer({ result: { received: introduction } });
  else {
    const received = { method, params };
    answer({ result: method === "server/discover" ? { ...DISCOVERY, capabilities, received } : { received } });
  }
}

function perform({ result, error, notification, question }, params, { answer, send }) {
  if (result) answer({ result });
  else if (error) answer({ error });
  else if (notification) {
    send(notification);
    answer({ result: {} });
  } else if (!isModern(params)) {
    const id = `question-${waiting.size}`;
    waiting.set(id, (reply) => answer({ result: { received: reply } }));
    send({ ...question, jsonrpc: "2.0", id });
  } else if (params.inputResponses) {
    answer({ result: { resultType: "complete", received: params.inputResponses.question } });
  } else answer({ result: { resultType: "input_required", inputRequests: { question } } });
}

function isModern(params) {
  return params._meta?.["io.modelcontextprotocol/protocolVersion"] === "2026-07-28";
}

if (values.http) serveHttp();
else {
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: process.stdin }).on("line", (line) => receive(JSON.parse(line), send));
}

/** Answers with event streams at /events, with JSON anywhere else. */
function serveHttp() {
  const server = createServer((request, response) => {
    const events = request.url === "/events";
    const send = (message) => {
      const text = JSON.stringify(message);
      response.write(events ? `data: ${text}\n\n` : text);
      if (message.method === undefined) response.end();
    };
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      response.writeHead(200, { "content-type": events ? "text/event-stream" : "application/json" });
      receive(JSON.parse(body), send);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
  process.stdin.on("end", () => process.exit()).resume();
}
