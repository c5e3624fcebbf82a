import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The official SDK, as its documentation shows it. */
export async function open({ transport, version, era, target }) {
  const client = new Client(
    { name: "bench", version: "1" },
    { versionNegotiation: { mode: era === "modern" ? { pin: version } : "legacy" } },
  );
  await client.connect(
    transport === "stdio"
      ? new StdioClientTransport({ command: process.execPath, args: target })
      : new StreamableHTTPClientTransport(new URL(target)),
  );
  await client.listTools();
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
