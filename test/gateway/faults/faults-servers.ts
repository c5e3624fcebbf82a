/** A legacy server that reports progress until it is told to stop, and counts how often it was. */
export function flooding(): { command: string; args: string[] } {
  return script(`
    let cancelled = 0;
    const flood = (token, count) => {
      if (cancelled) return;
      const message = "x".repeat(16_384);
      const params = { progressToken: token, progress: count, message };
      const goOn = () => flood(token, count + 1);
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params }) + "\\n", goOn);
    };
    const tools = ["flood", "cancelled"].map((name) => ({ name, inputSchema: { type: "object" } }));
    serve({ tools }, (message) => {
      if (message.method === "notifications/cancelled") cancelled++;
      if (message.params?.name === "flood") return flood(message.params._meta.progressToken, 1);
      if (message.params?.name === "cancelled") answer(message, { content: [{ type: "text", text: String(cancelled) }] });
    });`);
}

/** A legacy server that starts quickly, and asks the one it is called by. */
export function asking(): { command: string; args: string[] } {
  return script(`
    const waiting = new Map();
    const tools = [{ name: "ask", inputSchema: { type: "object" } }];
    serve({ tools }, (message) => {
      if (message.params?.name === "ask") {
        waiting.set("q" + message.id, message);
        const requestedSchema = { type: "object", properties: { who: { type: "string" } } };
        const params = { message: message.params.arguments.message, requestedSchema };
        write({ jsonrpc: "2.0", id: "q" + message.id, method: "elicitation/create", params });
      } else if (message.result) {
        const text = message.result.content?.who ?? "nobody";
        answer(waiting.get(message.id), { content: [{ type: "text", text }] });
      }
    });`);
}

/** A legacy server whose list of tools takes so many bytes. */
export function wordy(bytes: number): { command: string; args: string[] } {
  return script(`
    const tools = [{ name: "long", description: "x".repeat(${bytes}), inputSchema: { type: "object" } }];
    serve({ tools }, (message) => message.id !== undefined && answer(message, { content: [] }));`);
}

/** A legacy server that writes the lines it is given, and then answers. */
export function parrot(): { command: string; args: string[] } {
  return script(`
    const tools = [{ name: "say", inputSchema: { type: "object" } }];
    serve({ tools }, (message) => {
      for (const line of message.params?.arguments?.lines ?? []) process.stdout.write(line + "\\n");
      if (message.method && message.id !== undefined) answer(message, { content: [{ type: "text", text: "said" }] });
    });`);
}

function script(body: string): { command: string; args: string[] } {
  const frame = `
    const write = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
    const answer = ({ id }, result) => write({ jsonrpc: "2.0", id, result });
    const serve = ({ tools }, hear) => {
      const lines = require("node:readline").createInterface({ input: process.stdin });
      lines.on("line", (line) => {
        const message = JSON.parse(line);
        const { method, id } = message;
        const capabilities = { tools: {} };
        const serverInfo = { name: "script", version: "1" };
        if (method === "initialize") answer(message, { protocolVersion: "2025-11-25", capabilities, serverInfo });
        else if (method === "tools/list") answer(message, { tools });
        else if (method === "ping") answer(message, {});
        else if (method === "server/discover") write({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
        else hear(message);
      });
    };`;
  return { command: process.execPath, args: ["--eval", frame + body] };
}
