import type { HostEntry } from "../../src/index.ts";

/** What is odd about a server. */
export interface Oddity {
  modern?: boolean;
  /** A file to which each process adds its number. */
  spawnLog?: string;
  /** Ends at once unless there is this file. */
  failUnless?: string;
  /** Ends at once if there is this file; makes it, and removes it at its end. */
  lock?: string;
  /** Takes so long to end. */
  slowExitMs?: number;
  /** Reads nothing for so long, as a server that has much to load does. */
  slowStartMs?: number;
  hang?: boolean;
  /** Hangs unless there is this file when it starts. */
  hangUnless?: string;
  /** Written to stderr at the start. */
  stderrBytes?: number;
  onProbe?: "ignore" | "exit";
  /** How the tools, or the prompts, are listed. */
  tools?: "change-during-first" | "fail-first" | "second-is-late" | "twice" | "none";
  prompts?: "fail" | "late";
  /** Declares resources and knows the method of this list alone, or of none. */
  resources?: "list-only" | "templates-only" | "no-method";
  ttlMs?: number;
  /** Ends the first subscription, after a change that it does not tell. */
  endsStream?: boolean;
}

/** A small server whose only tool, `echo`, does as its arguments say: `{ change: n }`, `{ deafen: true }`, `{ die: true }`. */
export function oddServer(oddity: Oddity = {}, more: HostEntry = {}): HostEntry {
  return {
    command: process.execPath,
    args: ["-e", `(${serve.toString()})(${JSON.stringify(oddity)})`],
    connection_timeout: "20s",
    ...more,
  };
}

interface Incoming {
  id?: number;
  method: string;
  params?: { arguments?: { change?: number; deafen?: boolean; die?: boolean } };
}

/** Runs in a process of its own: nothing from outside is there. */
function serve(odd: Oddity): void {
  const fs = process.getBuiltinModule("node:fs");
  const readline = process.getBuiltinModule("node:readline");
  if (odd.spawnLog) fs.appendFileSync(odd.spawnLog, `${process.pid}\n`);
  if (odd.failUnless && !fs.existsSync(odd.failUnless)) process.exit(3);
  const { lock } = odd;
  if (lock && fs.existsSync(lock)) process.exit(4);
  if (lock) {
    fs.writeFileSync(lock, "");
    process.on("exit", () => fs.rmSync(lock, { force: true }));
  }
  if (odd.stderrBytes) process.stderr.write("x".repeat(odd.stderrBytes));

  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  let tools = odd.tools === "none" ? [] : [tool("echo")];
  let toolLists = 0;
  let streams = 0;
  let subscription: object = {};
  let isDeaf = odd.hang ?? (odd.hangUnless !== undefined && !fs.existsSync(odd.hangUnless));
  const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const toolsChanged = () => send({ method: "notifications/tools/list_changed", params: subscription });
  const listTools = (answer: (result: object) => void, refuse: (message: string) => void) => {
    toolLists++;
    const listed = { tools: odd.tools === "twice" ? [...tools, ...tools] : tools, ttlMs: odd.ttlMs ?? 0 };
    if (odd.tools === "fail-first" && toolLists === 1) {
      refuse("not yet");
      setTimeout(toolsChanged, 50);
    } else if (odd.tools === "second-is-late" && toolLists === 2) setTimeout(() => answer(listed), 200);
    else answer(listed);
    if (odd.tools === "change-during-first" && toolLists === 1) {
      tools = [...tools, tool("late")];
      if (!odd.modern || streams > 0) toolsChanged();
    }
  };
  if (odd.slowStartMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, odd.slowStartMs);
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("close", () => setTimeout(() => process.exit(0), odd.slowExitMs ?? 0));
  lines.on("line", (line) => {
    if (isDeaf) return;
    const { id, method, params } = JSON.parse(line) as Incoming;
    const answer = (result: object) => send({ id, result: { resultType: "complete", ...result } });
    const refuse = (message: string, code = -32603) => send({ id, error: { code, message } });
    const serverInfo = { name: "odd", version: "1" };
    const capabilities = {
      tools: { listChanged: true },
      prompts: {},
      ...(odd.resources ? { resources: {} } : {}),
    };
    switch (method) {
      case "server/discover":
        if (odd.onProbe === "exit") process.exit(5);
        if (odd.onProbe === "ignore") return;
        if (!odd.modern) return refuse("no", -32601);
        return answer({ supportedVersions: ["2026-07-28"], capabilities, serverInfo });
      case "initialize":
        if (odd.modern) return refuse("no", -32601);
        return answer({ protocolVersion: "2025-06-18", capabilities, serverInfo });
      case "tools/list":
        return listTools(answer, refuse);
      case "prompts/list":
        if (odd.prompts === "fail") return refuse("prompts are broken");
        setTimeout(() => answer({ prompts: [] }), odd.prompts === "late" ? 200 : 0);
        return;
      case "resources/list":
        if (odd.resources !== "list-only") return refuse("no", -32601);
        return answer({ resources: [{ uri: "odd:///a", name: "a" }] });
      case "resources/templates/list":
        if (odd.resources !== "templates-only") return refuse("no", -32601);
        return answer({ resourceTemplates: [{ uriTemplate: "odd:///{x}", name: "x" }] });
      case "subscriptions/listen": {
        const notifications = { toolsListChanged: true };
        subscription = { _meta: { "io.modelcontextprotocol/subscriptionId": id } };
        send({ method: "notifications/subscriptions/acknowledged", params: { notifications, ...subscription } });
        if (++streams > 1 || !odd.endsStream) return;
        setTimeout(() => {
          tools = [...tools, tool("while-away")];
          answer({});
        }, 100);
        return;
      }
      case "tools/call": {
        const { change, deafen, die } = params?.arguments ?? {};
        if (die) process.exit(9);
        for (let count = 0; count < (change ?? 0); count++) {
          setTimeout(() => {
            tools = [...tools, tool(`added-${tools.length}`)];
            toolsChanged();
          }, count * 50);
        }
        answer({ content: [{ type: "text", text: String(process.pid) }] });
        if (deafen) isDeaf = true;
        return;
      }
      default:
        if (id !== undefined && method) refuse("no", -32601);
    }
  });
}
