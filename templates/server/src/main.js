#!/usr/bin/env node
// Started by a client it speaks on its pipe; with --http it listens until it is stopped.
import { serveHttp, serveStdio } from "nexus-mcp/server";
import { createServer } from "./server.js";

const port = process.env.PORT ?? "3000";
const serve = async () => {
  if (!process.argv.includes("--http")) return serveStdio(createServer());
  const serving = await serveHttp(createServer(), { address: "127.0.0.1", port: Number(port) });
  console.log(`Listening on ${serving.url}`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => serving.close());
};

// A port that is in use, for example: what happened is enough, without where.
await serve().catch(({ message }) => {
  console.error(`${message} (PORT is ${port})`);
  process.exitCode = 1;
});
