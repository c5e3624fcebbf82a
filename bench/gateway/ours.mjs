// Our gateway in front of one echo server: node ours.mjs <settings as JSON>
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../dist/gateway/index.js";
import { Host } from "../../dist/index.js";

const { transport, target } = JSON.parse(process.argv[2]);
const entry = transport === "stdio" ? { command: process.execPath, args: target } : { url: target };
const stateFolder = await mkdtemp(join(tmpdir(), "nexus-bench-"));
const host = await Host.open({ servers: { echo: entry }, stateFolder });
const gateway = await serve({ host, port: 0 });
await gateway.ready();
process.on("message", (order) => {
  if (order === "close") void close();
});
process.send({ url: gateway.url.replace("/mcp", "/servers/echo/mcp") });

async function close() {
  await gateway.close();
  await rm(stateFolder, { recursive: true });
  process.disconnect();
}
