import { fileURLToPath } from "node:url";
import type { HostEntry } from "../../host/host-options.ts";

/** The bundled demo server, once as the newest specification has it and once as it was before. */
export function demoServers(): Record<string, HostEntry> {
  const script = fileURLToPath(new URL("../demo/main.js", import.meta.url));
  const command = process.execPath;
  return { demo: { command, args: [script] }, "demo-legacy": { command, args: [script, "--legacy"] } };
}
