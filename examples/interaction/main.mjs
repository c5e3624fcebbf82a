import assert from "node:assert/strict";
import { connect } from "nexus-mcp";

/** A real program would show a form, and ask its model; this one always knows the answer. */
const input = {
  capabilities: { elicitation: { form: {} }, sampling: {} },
  handle({ method, params }, { server, call }) {
    switch (method) {
      case "elicitation/create":
        console.log(`  ${server} asks during ${call.params.name}: ${params.message}`);
        return { action: "accept", content: { username: "ada", email: "ada@example.com" } };
      case "sampling/createMessage":
        console.log(`  ${server} asks the model: ${params.messages[0].content.text}`);
        return { role: "assistant", model: "none", content: { type: "text", text: "forty-two" } };
      default:
        throw new Error(`nobody answers ${method} here`);
    }
  },
};

for (const era of ["modern", "legacy"]) {
  console.log(`A ${era} server:`);
  const client = await connect(
    {
      id: "curious",
      command: process.execPath,
      args: ["build/fixtures/everything.cjs"],
      roots: [{ uri: "file:///srv/project", name: "project" }],
    },
    { era, input },
  );
  try {
    const form = await client.callTool("test_elicitation", { message: "Who is there?" });
    console.log(`  → ${form.content[0].text}`);
    assert.match(form.content[0].text, /ada@example\.com/);

    const sampled = await client.callTool("test_sampling", { prompt: "What is the answer?" });
    console.log(`  → ${sampled.content[0].text}`);
    assert.match(sampled.content[0].text, /forty-two/);

    // Roots come from the server's entry; nobody is asked.
    const roots = await client.callTool("ask_roots");
    console.log(`  → ${roots.content[0].text}`);
    assert.match(roots.content[0].text, /file:\/\/\/srv\/project/);

    // One call may have a handler of its own.
    const decline = { ...input, handle: () => ({ action: "decline" }) };
    const declined = await client.callTool("test_elicitation", { message: "And your age?" }, { input: decline });
    console.log(`  → ${declined.content[0].text}`);
    assert.match(declined.content[0].text, /decline/);
  } finally {
    await client.close();
  }
}
