// jsonResponseStreamableHttp: two tools over HTTP, with sessions for clients that have them.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveHttp } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "json-response", version: "1.0.0" });
const input = z.object({ name: z.string().describe("Who is greeted") });

server.tool("greet", { description: "Greets somebody.", input }, ({ name }) => `Hello, ${name}!`);

server.tool(
  "multi-greet",
  { description: "Greets somebody after a while.", input },
  async ({ name }, { log, signal }) => {
    log("debug", `Starting to greet ${name}`);
    for (const step of ["first", "second"]) {
      await pause(1000, undefined, { signal });
      log("info", `Sending the ${step} greeting to ${name}`);
    }
    return `Good morning, ${name}!`;
  },
);

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => void serving.close());
