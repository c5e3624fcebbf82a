#!/usr/bin/env node
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../protocol/revisions.ts";
import { demoFeatures } from "./demo-features.ts";
import { McpServer } from "../server/plain/mcp-server.ts";
import { StdioConnection } from "../server/plain/stdio-connection.ts";

/** The demo server: `nexus-demo` on a pair of pipes, in every revision (with `--legacy`: before 2026-07-28), until its input ends. */
const server = new McpServer({
  info: { name: "nexus-demo", title: "Nexus demo server", version: "0.1.0" },
  instructions: "A small server to try a client with. Begin with the tool `echo`, or ask it your name with `ask_name`.",
  features: demoFeatures(),
  revisions: process.argv.includes("--legacy") ? LEGACY_REVISIONS : [...MODERN_REVISIONS, ...LEGACY_REVISIONS],
  ttlMs: 60_000,
});

await new StdioConnection(server, process.stdout).serve(process.stdin);
