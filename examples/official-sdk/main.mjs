// Ten example servers of the official SDK beside the same servers on nexus-mcp/server. Both of a pair offer the same, are
// used by the same client in the same way, and are counted by the same rule.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "nexus-mcp";
import { linesOf } from "./lines.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const originals = fileURLToPath(
  new URL("../examples/server/", import.meta.resolve("@modelcontextprotocol/sdk/server")),
);

const ANSWERS = {
  "Step 1": { title: "Tea" },
  "Step 2": { date: "2026-12-24", startTime: "16:00", duration: 60 },
  address: { name: "Ada", street: "1 Main Street", city: "Springfield", state: "IL", zipCode: "62701" },
  regist: { username: "ada", email: "ada@example.com", password: "correct horse", newsletter: true },
};
const input = {
  capabilities: { elicitation: { form: {} }, sampling: {} },
  handle({ method, params }) {
    if (method === "sampling/createMessage")
      return { role: "assistant", model: "none", content: { type: "text", text: "Short." } };
    const [, content] = Object.entries(ANSWERS).find(([words]) => params.message.includes(words));
    return { action: "accept", content };
  },
};

const textOf = async (client, tool, args, options) => {
  const { isError, content } = await client.callTool(tool, args, options);
  assert.notEqual(isError, true, content[0]?.text);
  return content[0].text;
};

/** Calls the tool that logs; a server without a stream for its messages says nothing. */
const useStream = async (client) => {
  assert.match(await textOf(client, "start-notification-stream", { interval: 1, count: 2 }), /1 ?ms/);
};

const PAIRS = [
  {
    original: "mcpServerOutputSchema",
    ours: "output-schema",
    async use(client) {
      const { structuredContent } = await client.callTool("get_weather", { city: "Graz", country: "AT" });
      assert.deepEqual(Object.keys(structuredContent), ["temperature", "conditions", "humidity", "wind"]);
    },
  },
  {
    original: "progressExample",
    ours: "progress",
    async use(client) {
      const seen = [];
      const onProgress = ({ progress, total }) => seen.push(`${progress}/${total}`);
      assert.equal(await textOf(client, "count", { n: 2 }, { onProgress }), "Counted to 2");
      assert.deepEqual(seen, ["1/2", "2/2"]);
    },
  },
  {
    original: "toolWithSampleServer",
    ours: "sampling",
    async use(client) {
      assert.equal(await textOf(client, "summarize", { text: "A long text" }), "Short.");
    },
  },
  {
    original: "simpleStatelessStreamableHttp",
    ours: "stateless",
    async use(client) {
      await useStream(client);
      const { messages } = await client.getPrompt("greeting-template", { name: "Ada" });
      assert.match(messages[0].content.text, /greet Ada/i);
      const { contents } = await client.readResource("https://example.com/greetings/default");
      assert.equal(contents[0].text, "Hello, world!");
    },
  },
  {
    original: "jsonResponseStreamableHttp",
    ours: "json-response",
    async use(client) {
      assert.equal(await textOf(client, "greet", { name: "Ada" }), "Hello, Ada!");
      assert.equal(await textOf(client, "multi-greet", { name: "Ada" }), "Good morning, Ada!");
    },
  },
  { original: "simpleSseServer", ours: "sse", sse: { original: "/mcp", ours: "/sse" }, use: useStream },
  {
    original: "sseAndStreamableHttpCompatibleServer",
    ours: "both-transports",
    sse: { original: "/sse", ours: "/sse" },
    streamable: true,
    use: useStream,
  },
  {
    original: "standaloneSseWithGetStreamableHttp",
    ours: "changing-resources",
    async use(client) {
      let heard;
      const changed = new Promise((resolve) => (heard = resolve));
      const before = (await client.listResources()).length;
      const subscription = await client.subscribe({ lists: ["resources"] }, heard);
      await changed;
      assert.ok((await client.listResources({ fresh: true })).length > before);
      await subscription.close();
    },
  },
  {
    original: "ssePollingExample",
    ours: "polling",
    async use(client) {
      assert.match(await textOf(client, "long-task"), /long task/i);
    },
  },
  {
    original: "elicitationFormExample",
    ours: "forms",
    async use(client) {
      assert.match(await textOf(client, "register_user"), /Username: ada\nEmail: ada@example\.com/);
      assert.match(await textOf(client, "create_event"), /"title": "Tea",\n {2}"date": "2026-12-24"/);
      assert.match(await textOf(client, "update_shipping_address"), /"city": "Springfield"/);
    },
  },
];

const rows = [];
for (const pair of PAIRS) {
  const sides = { original: join(originals, `${pair.original}.js`), ours: join(here, `${pair.ours}.mjs`) };
  const [theirs, ours] = await Promise.all(Object.entries(sides).map(([side, file]) => tryServer(pair, side, file)));
  assert.deepEqual(ours, theirs, `${pair.ours} offers what ${pair.original} offers`);
  const [before, after] = [linesOf(sides.original), linesOf(sides.ours)];
  assert.ok(after <= before, `${pair.ours} has ${after} lines, ${pair.original} has ${before}`);
  rows.push([`\`${pair.original}\``, before, `\`${pair.ours}.mjs\``, after]);
}
const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
console.log("| of the official SDK | lines | on `nexus-mcp/server` | lines |\n|---|---|---|---|");
for (const row of [...rows, ["together", sum(1), "", sum(3)]]) console.log(`| ${row.join(" | ")} |`);

/** Starts a server, uses it over each transport that it is about, and returns what it offers. */
async function tryServer({ use, sse, streamable }, side, file) {
  if (/serveHttp|app\.listen/.test(readFileSync(file, "utf8"))) {
    const child = spawn(process.execPath, ["--import", join(here, "any-port.mjs"), file], {
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const url = await addressOf(child);
      const entries = sse ? [{ url: url.replace("/mcp", sse[side]), type: "sse" }] : [{ url }];
      if (streamable) entries.push({ url });
      let offered;
      for (const entry of entries) offered = await useWith(entry, use);
      return offered;
    } finally {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  }
  return useWith({ command: process.execPath, args: [file] }, use);
}

async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("Listening on http://127.0.0.1:")) continue;
    child.stdout.resume();
    return line.replace("Listening on ", "");
  }
  throw new Error("The server ended before it listened.");
}

async function useWith(entry, use) {
  const client = await connect(entry, { input });
  try {
    const offered = await offerOf(client);
    await use(client);
    return offered;
  } finally {
    await client.close();
  }
}

/** Names, and the members of schemas: words for people are each server's own. What was added since the start has a UUID. */
async function offerOf(client) {
  const tools = (await client.listTools()).map(({ name, inputSchema, outputSchema }) => [
    name,
    Object.keys(inputSchema.properties ?? {}).sort(),
    Object.keys(outputSchema?.properties ?? {}).sort(),
  ]);
  const prompts = (await client.listPrompts()).map(({ name, arguments: args = [] }) => [
    name,
    args.map((arg) => arg.name),
  ]);
  const resources = (await client.listResources()).map(({ uri }) => uri).filter((uri) => !/-4\w{3}-/.test(uri));
  return { tools: tools.sort(), prompts: prompts.sort(), resources: resources.sort() };
}
