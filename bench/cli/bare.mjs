// The least a command line for MCP can be: node bare.mjs tools|call <server script>. Legacy, no checks, no errors.
import { spawn } from "node:child_process";

const [command, script] = process.argv.slice(2);
const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
let rest = "";
child.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message.result);
  }
});
let id = 0;
const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++id, resolve);
    send({ id, method, params });
  });

await ask("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bare", version: "1" },
});
send({ method: "notifications/initialized" });
const { tools } = await ask("tools/list");
if (command === "tools") {
  for (const { name, description, inputSchema } of tools)
    console.log(`${name}(${Object.keys(inputSchema.properties ?? {}).join(", ")})  ${description}`);
} else {
  const { content } = await ask("tools/call", { name: "echo", arguments: { text: "hello" } });
  for (const { text } of content) console.log(text);
}
child.stdin.end();
