// progressExample: a tool that reports progress, and stops when it is cancelled.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, serveStdio } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "progress", version: "1.0.0" });

server.tool(
  "count",
  { description: "Counts to n, and reports each number.", input: z.object({ n: z.number().int().min(1).max(100) }) },
  async ({ n }, { progress, signal }) => {
    for (let i = 1; i <= n; i++) {
      progress({ progress: i, total: n, message: `Counting: ${i}/${n}` });
      await pause(100, undefined, { signal });
    }
    return `Counted to ${n}`;
  },
);

await serveStdio(server);
