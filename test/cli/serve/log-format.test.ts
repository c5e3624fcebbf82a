import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const SECRET = "planted-4711-secret";
const ARGUMENT = "planted-0815-argument";
const HEADERS = { "x-request-id": "order-7" };

interface Line {
  time: string;
  level: string;
  message: string;
  [field: string]: unknown;
}

/** A gateway with a server that works and one that does not start, to which calls of all outcomes were made. */
async function logOf(options: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  await using world = await NexusWorld.open();
  await world.configure({
    up: { ...stdioFixture(["--revision", "2026-07-28"]), env: { TOKEN: SECRET } },
    gone: { command: "/nowhere/server", args: ["--token", SECRET], env: { TOKEN: SECRET } },
  });
  const { child, output } = world.start(["serve", "--port", "0", ...options]);
  await vi.waitFor(() => expect(output.stdout).toMatch(/http:[^"\s]*\/mcp[^]*\n/), { timeout: 60_000 });
  const url = /http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "";
  const call = (name: string, headers: Record<string, string> = {}) =>
    send(url, modern("tools/call", { name, arguments: { text: ARGUMENT, TOKEN: SECRET } }, { headers }));
  await call("up__echo", HEADERS);
  await call("up__nothing", { "x-request-id": "order-8" });
  await call("gone__x", { "x-request-id": "order-9" });
  await send(
    url,
    modern("resources/read", { uri: `up+test://${ARGUMENT}` }, { headers: { "x-request-id": "order-10" } }),
  );
  await vi.waitFor(() => expect(output.stderr).toContain("order-9"), { timeout: 60_000 });
  child.kill("SIGTERM");
  await once(child, "close");
  expect(output.stderr).not.toContain(ARGUMENT);
  expect(output.stderr).not.toContain(SECRET);
  return output;
}

function linesOf(stderr: string): Line[] {
  return stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

test("serve --log json writes every line as an object, with failed calls, and without arguments and secrets", async () => {
  const { stdout, stderr } = await logOf(["--log", "json"]);
  expect(stdout).toContain("listening on http://");
  const lines = linesOf(stderr);
  for (const { time, level, message } of lines) {
    expect(new Date(time).toISOString()).toBe(time);
    expect(["info", "warn", "error"]).toContain(level);
    expect(message).not.toBe("");
  }
  const of = (correlationId: string) => lines.filter((line) => line["correlationId"] === correlationId);
  expect(of("order-7")).toEqual([]);
  expect(of("order-8")).toMatchObject([
    { level: "info", tenant: "default", server: "up", method: "tools/call", target: "up__nothing", outcome: "error" },
  ]);
  expect(of("order-9")).toContainEqual(expect.objectContaining({ level: "warn", server: "gone" }));
  expect(of("order-9")).toContainEqual(expect.objectContaining({ level: "info", server: "gone", outcome: "error" }));
  expect(of("order-10")).toMatchObject([{ server: "up", method: "resources/read" }]);
  expect(lines).toContainEqual(expect.objectContaining({ level: "warn", server: "gone" }));
});

test("serve --log json goes with --json and with --verbose, which adds one line for each call", async () => {
  const { stdout, stderr } = await logOf(["--log", "json", "--json", "--verbose"]);
  expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringContaining("/mcp") as string });
  const call = linesOf(stderr).find(({ correlationId }) => correlationId === "order-7");
  expect(call).toMatchObject({
    level: "debug",
    message: "tools/call up__echo: ok",
    correlationId: "order-7",
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    tenant: "default",
    server: "up",
    outcome: "ok",
    durationMs: expect.any(Number) as number,
  });
});

test("serve without --log writes text for people, without arguments and secrets", async () => {
  const { stderr } = await logOf([]);
  expect(stderr).toMatch(/"gone".*failed.*order-9/);
  expect(stderr).not.toContain("order-8");
});

test("serve --log refuses another form", async () => {
  await using world = await NexusWorld.open();
  const { code, stderr } = await world.run(["serve", "--log", "xml"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/--log "xml" is not a form of the log[^]*Use json or text/),
  ]);
});
