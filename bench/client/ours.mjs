import { connect } from "../../dist/index.js";

/** This package, as its users call it. */
export async function open({ transport, version, target }) {
  const entry = transport === "stdio" ? { command: process.execPath, args: [target] } : { url: target };
  const client = await connect(entry, { protocolVersion: version });
  await client.listTools();
  return {
    call: (text) => client.callTool("echo", { text }),
    close: () => client.close(),
  };
}
