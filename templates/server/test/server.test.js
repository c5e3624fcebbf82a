import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, MemoryTransport } from "nexus-mcp";
import { serveMemory } from "nexus-mcp/server";
import { createServer } from "../src/server.js";

/** A client of the server, in this process. */
async function connected() {
  const server = createServer();
  return connect(new MemoryTransport((end) => serveMemory(server, end)));
}

test("words and characters are counted", async () => {
  const client = await connected();
  const { structuredContent } = await client.callTool("count_words", { text: "three small words" });
  assert.deepEqual(structuredContent, { words: 3, characters: 17 });
  await client.close();
});

test("a wrong argument is refused, in words that a model understands", async () => {
  const client = await connected();
  const { isError, content } = await client.callTool("count_words", { text: 3 });
  assert.equal(isError, true);
  assert.match(content[0]?.text ?? "", /text/);
  await client.close();
});

test("the welcome note can be read", async () => {
  const client = await connected();
  const { contents } = await client.readResource("notes://welcome");
  assert.equal(contents[0]?.text, "Hello from NAME.");
  await client.close();
});
