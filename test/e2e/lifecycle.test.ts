import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { isFull } from "../fixtures/depth.ts";
import { failure } from "../fixtures/failure.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";

/** A server that is a shell, answers the handshake, and ends with its stdin. */
const SHELL = {
  command: "sh",
  args: [
    "-c",
    `while read -r line; do case "$line" in *'"initialize"'*) printf '%s\\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}';; esac; done`,
  ],
};

const PROCESSES = isFull ? 300 : 80;
const CONNECTIONS = isFull ? 100 : 40;

/** What keeps the process alive. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  const listeners = ["exit", "SIGINT", "SIGTERM", "SIGHUP"].map((event) => process.listenerCount(event));
  return { ...counts, listeners: listeners.reduce((sum, count) => sum + count, 0) };
}

/** Of what there is more now than before. */
function leaked(before: Record<string, number>): Record<string, number> {
  const more = Object.entries(resources()).filter(([name, count]) => count > (before[name] ?? 0));
  return Object.fromEntries(more);
}

async function inLanes(times: number, lanes: number, run: () => Promise<void>): Promise<void> {
  let left = times;
  const lane = async () => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

test(`${PROCESSES} processes opened and closed leave no process, pipe, timer or listener behind (N2, N4)`, async () => {
  const before = resources();
  const children = childrenOf(process.pid);
  await inLanes(PROCESSES, 8, async () => {
    const client = await connect(SHELL, { protocolVersion: "2025-11-25" });
    await client.close();
    expect(await client.closed).toMatchObject({ kind: "exited" });
  });
  expect(childrenOf(process.pid).filter((pid) => !children.includes(pid))).toEqual([]);
  await expect.poll(() => leaked(before)).toEqual({});
});

test.each(["2026-07-28", "2025-11-25"] as const)(
  "HTTP connections of %s leave no socket or timer behind (N4)",
  async (revision) => {
    await using server = await startHttpFixture({ revision });
    const before = resources();
    await inLanes(CONNECTIONS, 4, async () => {
      await using client = await connect({ url: server.url });
      await client.callTool("echo", { text: "hi" });
    });
    // The server's own ends of the sockets close a moment after ours.
    await expect.poll(() => leaked(before)).toEqual({});
  },
);

test("closing fails what is pending, once, and may be asked for twice", async () => {
  for (const revision of ["2026-07-28", "2025-11-25"] as const) {
    await using server = await startHttpFixture({ revision });
    const client = await connect({ id: "web", url: server.url });
    const pending = failure(client.callTool("sleep", { ms: 60_000 }));
    await client.callTool("echo", { text: "it is under way" });
    await Promise.all([client.close(), client.close()]);
    expect(await pending).toMatchObject({
      code: "CLOSED",
      details: { server: "web", method: "tools/call", mayHaveReached: true },
    });
    expect(await failure(client.callTool("echo", { text: "x" }))).toMatchObject({
      code: "CLOSED",
      details: { mayHaveReached: false },
    });
  }
});

test("a session is ended at the server with DELETE (P1.8)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await (await connect({ url: server.url })).close();
  const last = server.transcript.entries.filter(({ method }) => method === "DELETE");
  expect(last).toHaveLength(1);
  expect(last[0]?.headers).toHaveProperty("mcp-session-id");
});

test.each(["exit", "SIGINT", "SIGTERM", "SIGHUP"])(
  "a process that ends without closing takes its servers along: %s",
  async (end) => {
    const script = `
    const { connect } = await import(${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)});
    const server = { command: "sh", args: ["-c", ${JSON.stringify(SHELL.args[1])} + "; sleep 600"] };
    const client = await connect(server, { protocolVersion: "2025-11-25" });
    console.log(client.pid);
    if (${JSON.stringify(end)} === "exit") process.exit(0);
    await new Promise(() => setInterval(() => {}, 1e6));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const server = Number(String(line));
    if (end !== "exit") child.kill(end as NodeJS.Signals);
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect(end === "exit" ? code : signal).toBe(end === "exit" ? 0 : end);
    await expect.poll(() => isRunning(server)).toBe(false);
  },
);
