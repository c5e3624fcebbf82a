// What the server offers. Add tools, resources and prompts here.
import { McpServer } from "nexus-mcp/server";

/** A server of its own for each caller of this function, so that tests do not share one. */
export function createServer() {
  const server = new McpServer({
    name: "NAME",
    version: "0.1.0",
    instructions: "Counts words. Use count_words before you shorten a text.",
  });

  server.tool(
    "count_words",
    {
      description: "Counts the words and characters of a text.",
      input: {
        type: "object",
        properties: { text: { type: "string", description: "the text", maxLength: 100_000 } },
        required: ["text"],
        additionalProperties: false,
      },
      output: {
        type: "object",
        properties: { words: { type: "integer" }, characters: { type: "integer" } },
        required: ["words", "characters"],
      },
      annotations: { readOnlyHint: true },
    },
    // Arguments and result are compared with the schemas: no other ones come here, and no other ones leave.
    async ({ text }) => ({ words: text.split(/\s+/).filter((word) => word !== "").length, characters: text.length }),
  );

  server.resource("notes://welcome", { name: "welcome", mimeType: "text/plain" }, async () => "Hello from NAME.");

  return server;
}
