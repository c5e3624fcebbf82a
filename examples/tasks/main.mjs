import assert from "node:assert/strict";
import { connect } from "nexus-mcp";

const input = {
  capabilities: { elicitation: { form: {} } },
  handle({ params }) {
    console.log(`  it asks: ${params.message}`);
    return { action: "accept", content: { ok: true } };
  },
};

for (const era of ["modern", "legacy"]) {
  console.log(`A ${era} server:`);
  const client = await connect({ command: process.execPath, args: ["build/fixtures/everything.cjs"] }, { era, input });
  try {
    // As any call: waits until the task is over.
    const seen = [];
    const onStatus = ({ status }) => seen.push(status);
    const result = await client.callTool("slow_compute", { seconds: 0.05 }, { task: { onStatus } });
    console.log(`  ${result.content[0].text} It was ${[...new Set(seen)].join(", then ")}.`);
    assert.match(result.content[0].text, /Computed/);
    assert.ok(seen.includes("completed"));

    // Started now, come back to later: its id is all it takes.
    const started = await client.tasks.start("confirm_delete");
    assert.equal(started.kind, "task");
    const { taskId } = started.task;
    console.log(`  task ${taskId} is ${(await client.tasks.get(taskId)).status}`);
    const confirmed = await client.tasks.wait(taskId);
    console.log(`  ${confirmed.content[0].text}`);
    assert.equal(confirmed.content[0].text, "Deleted.");

    // Given up.
    const endless = await client.tasks.start("slow_compute", { seconds: 3600 });
    await client.tasks.cancel(endless.task.taskId);
    const { status } = await client.tasks.get(endless.task.taskId);
    console.log(`  the last one is ${status}`);
    assert.equal(status, "cancelled");
  } finally {
    await client.close();
  }
}
