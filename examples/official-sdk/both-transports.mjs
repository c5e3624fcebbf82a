// sseAndStreamableHttpCompatibleServer: the same server over Streamable HTTP and HTTP+SSE.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveHttp } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "both-transports", version: "1.0.0" });

server.tool(
  "start-notification-stream",
  {
    description: "Logs again and again.",
    input: z.object({
      interval: z.number().default(100).describe("Milliseconds between messages"),
      count: z.number().default(50).describe("How many messages"),
    }),
  },
  async ({ interval, count }, { log, signal }) => {
    for (let sent = 1; sent <= count; sent++) {
      await pause(interval, undefined, { signal });
      log("info", `Message ${sent} at ${new Date().toISOString()}`);
    }
    return `Sent ${count} messages every ${interval} ms.`;
  },
);

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => void serving.close());
