import { fileURLToPath } from "node:url";
import type { HostEntry } from "../../host/host-options.ts";

/**
 * The bundled demo server, once as the newest specification has it and once as it was before, and a hotel's API as the
 * workshop makes a server of it, with a fake of the hotel behind it.
 */
export function demoServers(): Record<string, HostEntry> {
  const script = fileURLToPath(new URL("../demo/main.js", import.meta.url));
  const command = process.execPath;
  const api = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
  return {
    demo: { command, args: [script] },
    "demo-legacy": { command, args: [script, "--legacy"] },
    capcorn: { api, upstream: "fake" },
  };
}
