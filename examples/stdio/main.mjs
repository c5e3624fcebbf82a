import assert from "node:assert/strict";
import { checkArguments, connect } from "nexus-mcp";

const client = await connect({ id: "demo", command: process.execPath, args: ["dist/demo/main.js"], timeout: "10s" });
try {
  console.log(`${client.serverInfo.title} speaks ${client.protocolVersion}, which is ${client.era}.`);

  const tools = await client.listTools();
  console.log("It has the tools", tools.map(({ name }) => name).join(", "));
  const add = tools.find(({ name }) => name === "add");
  assert.ok(add);

  const wrong = await checkArguments(add, { a: 2, c: 3 });
  console.log("Two and what?", wrong.problems);
  assert.equal(wrong.kind, "invalid");

  const sum = await client.callTool("add", { a: 2, b: 3 });
  console.log("2 + 3 =", sum.structuredContent.sum);
  assert.equal(sum.structuredContent.sum, 5);

  // A tool's own failure is a result: a model can read it and try again.
  const failed = await client.callTool("add", { a: 2 });
  console.log("The tool says:", failed.content[0].text);
  assert.equal(failed.isError, true);

  const [resource] = await client.listResources();
  const { contents } = await client.readResource(resource.uri);
  console.log(resource.uri, "begins:", contents[0].text.split("\n")[0]);
  assert.match(contents[0].text, /Welcome/);

  const tones = await client.complete({ type: "ref/prompt", name: "postcard" }, { name: "tone", value: "p" });
  const [tone] = tones.completion.values;
  const prompt = await client.getPrompt("postcard", { place: "Graz", tone });
  console.log("A prompt:", prompt.messages[0].content.text);
  assert.match(prompt.messages[0].content.text, /poetic postcard from Graz/);

  // Cancelling reaches the server: it stops counting.
  const abort = new AbortController();
  const counting = client.callTool(
    "slow_count",
    { to: 1000, pauseMs: 1 },
    {
      signal: abort.signal,
      onProgress({ progress, total }) {
        if (progress <= 3) console.log(`Counted ${progress} of ${total}`);
        if (progress === 3) abort.abort();
      },
    },
  );
  await assert.rejects(counting, { code: "CANCELLED" });
  console.log("That is enough.");
} finally {
  await client.close();
}
