import type { HostEntry } from "../../src/index.ts";

/** A server whose tool `eat` takes `mb` megabytes for good, and answers with its process id once there is the file `until`. */
export function hungryServer(more: HostEntry = {}): HostEntry {
  return { command: process.execPath, args: ["-e", `(${serve.toString()})()`], connection_timeout: "20s", ...more };
}

interface Incoming {
  id?: number;
  method: string;
  params?: { arguments?: { mb?: number; until?: string } };
}

/** Runs in a process of its own: nothing from outside is there. */
function serve(): void {
  const fs = process.getBuiltinModule("node:fs");
  const readline = process.getBuiltinModule("node:readline");
  const eaten: Buffer[] = [];
  const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0));
  lines.on("line", (line) => {
    const { id, method, params } = JSON.parse(line) as Incoming;
    const answer = (result: object) => send({ id, result });
    if (method === "initialize") {
      return answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "hungry" } });
    }
    if (method === "tools/list") return answer({ tools: [{ name: "eat", inputSchema: { type: "object" } }] });
    if (method !== "tools/call")
      return id === undefined ? undefined : send({ id, error: { code: -32601, message: "no" } });
    const { mb = 0, until } = params?.arguments ?? {};
    if (mb > 0) eaten.push(Buffer.alloc(mb * 1_000_000, 1));
    const done = () => answer({ content: [{ type: "text", text: String(process.pid) }] });
    if (until === undefined) return done();
    const timer = setInterval(() => {
      if (!fs.existsSync(until)) return;
      clearInterval(timer);
      done();
    }, 10);
  });
}
