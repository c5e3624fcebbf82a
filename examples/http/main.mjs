import assert from "node:assert/strict";
import { connect, NexusError } from "nexus-mcp";
import { startHttpServer } from "../start-http-server.mjs";

for (const revision of ["2026-07-28", "2025-06-18"]) {
  const server = await startHttpServer(revision);
  const logs = [];
  const client = await connect(
    { id: "somewhere", url: server.url, headers: { "X-Team": "blue" } },
    { onNotification: ({ method, params }) => method === "notifications/message" && logs.push(params.data) },
  );
  try {
    console.log(`${server.url} speaks ${client.protocolVersion}, which is ${client.era}.`);
    assert.equal(client.protocolVersion, revision);

    // From here on nothing depends on the revision.
    const { content } = await client.callTool("echo", { text: "hello" });
    assert.equal(content[0].text, "hello");

    await client.setLogLevel("info");
    await client.callTool("test_tool_with_logging");
    console.log("The server logged:", logs);
    assert.ok(logs.length > 0);

    // Calls run side by side.
    const answers = await Promise.all([1, 2, 3].map((n) => client.callTool("echo", { text: `call ${n}` })));
    assert.deepEqual(
      answers.map((answer) => answer.content[0].text),
      ["call 1", "call 2", "call 3"],
    );

    const error = await client.readResource("test://nowhere").catch((thrown) => thrown);
    assert.ok(error instanceof NexusError);
    console.log(`A failure: ${error.code}, "${error.message}", from ${error.details.server}.`);
    assert.equal(error.code, "SERVER_ERROR");
  } finally {
    await client.close();
    await server.stop();
  }
}
