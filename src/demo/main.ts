#!/usr/bin/env node
import { LEGACY_REVISIONS } from "../protocol/revisions.ts";
import { McpServer } from "../server/features/mcp-server.ts";
import { serveStdio } from "../server/stdio/serve-stdio.ts";
import { addDemoPrompts } from "./demo-prompts.ts";
import { addDemoResources } from "./demo-resources.ts";
import { addDemoTools } from "./demo-tools.ts";

/**
 * The demo server: `nexus-demo` over stdio, in every revision (with `--legacy`: before 2026-07-28), until its input
 * ends.
 */
const server = new McpServer({
  name: "nexus-demo",
  title: "Nexus demo server",
  version: "0.1.0",
  instructions: "A small server to try a client with. Begin with the tool `echo`, or ask it your name with `ask_name`.",
  revisions: process.argv.includes("--legacy") ? LEGACY_REVISIONS : undefined,
  ttlMs: 60_000,
});
addDemoTools(server);
addDemoResources(server);
addDemoPrompts(server);

// A client that has closed the pipe is gone or will end this process soon.
await serveStdio(server, { drainMs: 500 });
