// ssePollingExample: a long call, during which the client disconnects and comes back for the answer.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveHttp } from "nexus-mcp/server";

const server = new McpServer({ name: "polling", version: "1.0.0" });

server.tool(
  "long-task",
  { description: "Works for three seconds, and lets the client disconnect meanwhile." },
  async (_args, context) => {
    context.log("info", "25 %: started");
    await pause(1000);
    context.log("info", "50 %: half of it is done");
    await pause(1000);
    context.pause(2000);
    await pause(500);
    context.log("info", "75 %: sent while the client is away");
    await pause(500);
    context.log("info", "100 %: done");
    return "The long task is done.";
  },
);

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3001) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => void serving.close());
