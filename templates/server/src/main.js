#!/usr/bin/env node
// Started by a client it speaks on its pipe; with --http it listens until it is stopped.
import { serveHttp, serveStdio } from "nexus-mcp/server";
import { createServer } from "./server.js";

if (process.argv.includes("--http")) {
  const serving = await serveHttp(createServer(), { address: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
  console.log(`Listening on ${serving.url}`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => serving.close());
} else {
  await serveStdio(createServer());
}
