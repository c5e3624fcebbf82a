// toolWithSampleServer: a tool that asks the model of its client.
import { McpServer, serveStdio } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "sampling", version: "1.0.0" });

server.tool(
  "summarize",
  { description: "Has a text summarized.", input: z.object({ text: z.string().describe("What to summarize") }) },
  async ({ text }, { ask }) => {
    const content = { type: "text", text: `Summarize this text briefly:\n\n${text}` };
    const params = { messages: [{ role: "user", content }], maxTokens: 500 };
    const { summary } = await ask({ summary: { method: "sampling/createMessage", params } });
    return summary.content.type === "text" ? summary.content.text : "There is no summary.";
  },
);

await serveStdio(server);
