import { McpServer, serveHttp, serveStdio } from "nexus-mcp/server";
import { askModel, askUser, image, mixed, resource, sound, steps, user } from "./samples.mjs";

const server = new McpServer({ name: "example", version: "1.0.0" });
const answer = "This is a simple text response for testing.";
server.tool({ name: "test_simple_text", description: "Returns text" }, () => answer);
server.tool({ name: "test_image_content", description: "Returns an image" }, () => ({ content: [image] }));
server.tool({ name: "test_audio_content", description: "Returns a sound" }, () => ({ content: [sound] }));
server.tool({ name: "test_embedded_resource", description: "Returns a resource" }, () => ({ content: [resource] }));
server.tool({ name: "test_multiple_content_types", description: "Returns several" }, () => ({ content: mixed }));
server.tool({ name: "test_error_handling", description: "Always fails" }, () => Promise.reject(new Error("It failed")));
server.tool({ name: "test_tool_with_progress", description: "Reports progress" }, (_args, { progress }) => {
  for (const done of [0, 50, 100]) progress({ progress: done, total: 100 });
  return "Done.";
});
server.tool({ name: "test_tool_with_logging", description: "Logs its steps" }, (_args, { log }) => {
  for (const step of steps) log("info", step);
  return "Logged.";
});
server.tool({ name: "test_elicitation", ...askUser }, async ({ message }, { ask }) => {
  const answers = await ask({ name: { method: "elicitation/create", params: { message, requestedSchema: user } } });
  return `User response: ${JSON.stringify(answers.name)}`;
});
server.tool({ name: "test_sampling", ...askModel }, async ({ prompt: text }, { ask }) => {
  const params = { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 };
  const { reply } = await ask({ reply: { method: "sampling/createMessage", params } });
  return `LLM response: ${reply.content.text}`;
});
if (process.argv.includes("--stdio")) await serveStdio(server);
else console.log(`listening on ${(await serveHttp(server)).url}`);
