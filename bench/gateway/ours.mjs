// Our gateway in front of one echo server: node ours.mjs <settings as JSON>
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
/** `folder`: another checkout, whose built package is measured. */
const { transport, target, folder = HERE } = JSON.parse(process.argv[2]);
const built = (entry) => import(pathToFileURL(join(folder, "dist", entry)).href);
const { serve } = await built("gateway/index.js");
const { Host } = await built("index.js");
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
