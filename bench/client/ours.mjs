import { connect } from "../../dist/index.js";

/** This package, as its users call it. `probe`: the server's era is not known beforehand. */
export async function open({ transport, version, target, probe = false }) {
  const entry = transport === "stdio" ? { command: process.execPath, args: target } : { url: target };
  const client = await connect(entry, probe ? {} : { protocolVersion: version });
  await client.listTools();
  return {
    call: (name, args) => client.callTool(name, args),
    listTools: () => client.listTools(),
    close: () => client.close(),
  };
}
