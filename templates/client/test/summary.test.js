import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "nexus-mcp";
import { ScriptedServer } from "nexus-mcp/testing";
import { summary } from "../src/summary.js";

test("a summary names the tools of the server", async () => {
  const server = new ScriptedServer({
    tools: { echo: { description: "Says it again.", run: ({ text }) => String(text) } },
  });
  const client = await connect(server.transport);
  assert.match(await summary(client), / offers:\n {2}echo: Says it again\./);
  await client.close();
});
