import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveHttp, serveStdio } from "nexus-mcp/server";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const image = { type: "image", data: PNG, mimeType: "image/png" };
const file = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const ask = (method, params) => ({ answer: { method, params } });
const takes = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

const server = new McpServer({ name: "example", version: "1.0.0", instructions: "One tool for each kind of result." });

server
  .tool(
    { name: "test_simple_text", description: "Returns a line of text" },
    () => "This is a simple text response for testing.",
  )
  .tool({ name: "test_image_content", description: "Returns an image" }, () => ({ content: [image] }))
  .tool({ name: "test_audio_content", description: "Returns a sound" }, () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }))
  .tool({ name: "test_embedded_resource", description: "Returns a resource" }, () => ({
    content: [file("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }))
  .tool({ name: "test_multiple_content_types", description: "Returns text, an image and a resource" }, () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      file("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }))
  .tool({ name: "test_error_handling", description: "Always fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  })
  .tool({ name: "test_tool_with_progress", description: "Reports progress" }, async (_args, { progress, signal }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 });
      await pause(50, undefined, { signal });
    }
    return "Done.";
  })
  .tool({ name: "test_tool_with_logging", description: "Logs while it works" }, async (_args, { log, signal }) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      log("info", line);
      await pause(50, undefined, { signal });
    }
    return "Logged.";
  })
  .tool(
    { name: "test_elicitation", description: "Asks the user", inputSchema: takes("message") },
    async ({ message }, context) => {
      const requestedSchema = {
        ...takes("username"),
        properties: { username: { type: "string" }, email: { type: "string" } },
      };
      const { answer } = await context.ask(ask("elicitation/create", { mode: "form", message, requestedSchema }));
      return `User response: ${JSON.stringify(answer)}`;
    },
  )
  .tool(
    { name: "test_sampling", description: "Asks the user's model", inputSchema: takes("prompt") },
    async ({ prompt: text }, context) => {
      const messages = [{ role: "user", content: { type: "text", text } }];
      const { answer } = await context.ask(ask("sampling/createMessage", { messages, maxTokens: 100 }));
      return `LLM response: ${answer.content.text}`;
    },
  );

if (process.argv.includes("--stdio")) await serveStdio(server);
else console.log(`listening on ${(await serveHttp(server)).url}`);
