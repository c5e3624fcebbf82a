import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connect } from "nexus-mcp";

const file = "examples/server/server.mjs";
const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
const [line] = await once(createInterface({ input: child.stdout }), "line");
const url = line.replace("listening on ", "");

const input = {
  capabilities: { elicitation: {} },
  handle: () => ({ action: "accept", content: { username: "Ada" } }),
};

// The same server, whatever it is reached by and whatever revision its client speaks.
const entries = [{ url }, { url: url.replace("/mcp", "/sse") }, { command: process.execPath, args: [file, "--stdio"] }];
for (const entry of entries) {
  const client = await connect(entry, { input });
  const { content } = await client.callTool("test_elicitation", { message: "Who are you?" });
  console.log(`${client.protocolVersion} (${client.era}): ${content[0].text}`);
  assert.match(content[0].text, /Ada/);
  assert.equal((await client.callTool("test_error_handling")).isError, true);
  await client.close();
}

const ended = once(child, "exit");
child.kill();
await ended;
