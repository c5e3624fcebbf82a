// What a page loads for `connect` and `Client` of nexus-mcp/client: bundled, minified, and compressed as a server sends it.
// Beside it what the official SDK's client is for the same. What is loaded on demand is listed by itself.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { underCeiling } from "../ceilings.mjs";

const GOAL_KB = 45;
const PAGES = {
  "nexus-mcp/client": `export { connect, Client } from "nexus-mcp/client";`,
  "@modelcontextprotocol/client": `export { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";`,
  "@modelcontextprotocol/sdk": `
    export { Client } from "@modelcontextprotocol/sdk/client/index.js";
    export { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";`,
};

export async function measureSize() {
  console.log("\nwhat a page loads (kB, gzip)");
  for (const [name, source] of Object.entries(PAGES)) {
    const { first, later } = await sizesOf(source);
    const goal =
      name === "nexus-mcp/client" ? `  ${underCeiling("client in a page, kB beside the goal", first / GOAL_KB)}` : "";
    console.log(`  ${name.padEnd(30)} ${first.toFixed(1).padStart(6)}   on demand ${later.toFixed(1)}${goal}`);
  }
}

async function sizesOf(source) {
  // Below this folder, so that the names of packages are found.
  const folder = mkdtempSync(join("bench", ".size-"));
  try {
    const entry = join(folder, "page.mjs");
    writeFileSync(entry, source);
    const build = await rolldown({ input: entry, platform: "browser", logLevel: "silent" });
    const { output } = await build.generate({ format: "esm", minify: true });
    await build.close();
    const chunks = output.filter(({ type }) => type === "chunk");
    const first = loadedWith(
      chunks.find(({ isEntry }) => isEntry),
      chunks,
    );
    return { first: kilobytes(first), later: kilobytes(chunks.filter((chunk) => !first.includes(chunk))) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file with all that it imports before it runs. */
function loadedWith(chunk, chunks, found = []) {
  if (found.includes(chunk)) return found;
  found.push(chunk);
  for (const name of chunk.imports)
    loadedWith(
      chunks.find(({ fileName }) => fileName === name),
      chunks,
      found,
    );
  return found;
}

function kilobytes(chunks) {
  return chunks.reduce((bytes, { code }) => bytes + gzipSync(code, { level: 9 }).length, 0) / 1000;
}
