import { connect } from "../../dist/index.js";

/** This package, as its users call it. `probe`: the server's era is not known beforehand. */
export const open = (target) => openWith(target, {});

/** The same with more settings of the entry and options. */
export async function openWith({ transport, version, target, probe = false }, settings, options = {}) {
  const reach = transport === "stdio" ? { command: process.execPath, args: target } : { url: target };
  const client = await connect(
    { ...reach, ...settings },
    { ...(probe ? {} : { protocolVersion: version }), ...options },
  );
  await client.listTools();
  return {
    call: (name, args) => client.callTool(name, args),
    listTools: () => client.listTools(),
    close: () => client.close(),
  };
}
