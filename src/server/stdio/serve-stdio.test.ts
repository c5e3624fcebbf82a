import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { McpServer } from "../features/mcp-server.ts";
import { serveStdio } from "./serve-stdio.ts";

test("on a pipe without a logger, what the client is not told is one line on stderr", async () => {
  const server = new McpServer({ name: "own", version: "1" });
  server.resource({ uri: "a://broken", name: "broken" }, () => {
    throw new Error("disk full");
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { uri: "a://broken", _meta };
    input.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params })}\n`);
    await serveStdio(server, { input, output });
    output.end();
    expect(await text(output)).toContain("The server failed to answer resources/read");
    expect(written.mock.calls.map(([line]) => line)).toEqual(["resources/read failed: disk full\n"]);
  } finally {
    written.mockRestore();
  }
});
