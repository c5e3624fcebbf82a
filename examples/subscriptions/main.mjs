import assert from "node:assert/strict";
import { EventEmitter, on } from "node:events";
import { connect } from "nexus-mcp";
import { startHttpServer } from "../start-http-server.mjs";

for (const revision of ["2026-07-28", "2025-11-25"]) {
  const server = await startHttpServer(revision);
  const client = await connect({ url: server.url });
  const events = new EventEmitter();
  const changes = on(events, "change");
  const next = async () => (await changes.next()).value[0];
  try {
    console.log(`A server of ${revision}:`);
    const subscription = await client.subscribe({ lists: ["tools"], resources: ["test://static-text"] }, (change) =>
      events.emit("change", change),
    );
    console.log("  it agreed to tell of", subscription.accepted);

    const before = await client.listTools();
    await client.callTool("test_trigger_tool_change");
    const listChanged = await next();
    const after = await client.listTools();
    console.log(`  ${listChanged.kind}: ${before.length} tools became ${after.length}`);
    assert.equal(listChanged.list, "tools");
    assert.equal(after.length, before.length + 1);

    await client.callTool("update_resource", { uri: "test://static-text" });
    const updated = await next();
    console.log(`  ${updated.kind}: ${updated.uri}`);
    assert.equal(updated.uri, "test://static-text");

    // Another resource in place of the first; the list of tools stays.
    await subscription.update({ lists: ["tools"], resources: ["test://static-binary"] });
    await client.callTool("update_resource", { uri: "test://static-text" });
    await client.callTool("update_resource", { uri: "test://static-binary" });
    const other = await next();
    console.log(`  ${other.kind}: ${other.uri}`);
    assert.equal(other.uri, "test://static-binary");
    await subscription.close();
  } finally {
    await client.close();
    await server.stop();
  }
}
