// simpleStatelessStreamableHttp: a prompt, a resource, and a tool that logs while it works, over HTTP.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveHttp } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "stateless", version: "1.0.0" });

server.prompt(
  "greeting-template",
  { description: "Greets somebody.", input: z.object({ name: z.string().describe("Who is greeted") }) },
  ({ name }) => `Greet ${name} in a friendly way.`,
);

server.tool(
  "start-notification-stream",
  {
    description: "Logs again and again.",
    input: z.object({
      interval: z.number().default(100).describe("Milliseconds between messages"),
      count: z.number().default(10).describe("How many messages; 0: without end"),
    }),
  },
  async ({ interval, count }, { log, signal }) => {
    const last = count === 0 ? Infinity : count;
    for (let sent = 1; sent <= last; sent++) {
      log("info", `Message ${sent} at ${new Date().toISOString()}`);
      await pause(interval, undefined, { signal });
    }
    return `Sent messages every ${interval} ms.`;
  },
);

const greeting = { name: "greeting-resource", mimeType: "text/plain" };
server.resource("https://example.com/greetings/default", greeting, () => "Hello, world!");

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => void serving.close());
