import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { childrenOf, isRunning } from "../fixtures/processes.ts";

async function nexus(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

test("the demo shows what the demo server offers, as text and as JSON", async () => {
  const text = await nexus("demo");
  expect(text).toMatchObject({ code: 0, stderr: "" });
  expect(text.stdout).toContain("revision 2026-07-28 (modern)");
  expect(text.stdout).toContain("echo(text)");
  expect(text.stdout).toContain("Hello from Nexus");

  const json = await nexus("demo", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ era: "modern", tools: expect.arrayContaining([]) as unknown[] });
});

test("help helps, and a wrong command says so with exit code 2", async () => {
  expect((await nexus("--help")).stdout).toContain("Usage: node dist/cli/main.js <command>");
  expect((await nexus("demo", "--help")).stdout).toContain("Usage: node dist/cli/main.js demo");
  expect(await nexus("demmo")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(`There is no command "nexus demmo"`) as string,
  });
  for (const wrong of [["demo", "--frob"], ["--frob"], ["demo", "extra"]]) {
    expect(await nexus(...wrong)).toMatchObject({ code: 2, stdout: "" });
  }
  expect((await nexus("help", "demo")).stdout).toContain("Usage: node dist/cli/main.js demo");
  expect((await nexus("--json", "demo")).stdout).toMatch(/^\{/);
  const { stderr } = await nexus("demmo", "--json");
  expect(JSON.parse(stderr)).toMatchObject({ error: { message: `There is no command "nexus demmo"` } });
});

test("a reader that stops reading is no fault", async () => {
  const child = spawn("sh", ["-c", `"$0" dist/cli/main.js demo | head -1`, process.execPath], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  expect({ lines: stdout.trim().split("\n").length, stderr }).toEqual({ lines: 1, stderr: "" });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends it cleanly with exit code %d, and its server with it", async (signal, code) => {
  let servers: number[] = [];
  let exitCode: number | null = 0;
  // A run that was over before the signal came shows nothing, and is made again.
  while (exitCode === 0) {
    const child = spawn(process.execPath, ["dist/cli/main.js", "demo"], { stdio: ["ignore", "pipe", "pipe"] });
    const closed = once(child, "close") as Promise<[number | null]>;
    await once(child, "spawn");
    while (childrenOf(child.pid ?? 0).length === 0 && child.exitCode === null)
      await new Promise((resolve) => setImmediate(resolve));
    servers = childrenOf(child.pid ?? 0);
    child.kill(signal);
    [exitCode] = await closed;
  }
  expect(exitCode).toBe(process.platform === "linux" ? code : exitCode);
  await expect.poll(() => servers.filter(isRunning)).toEqual([]);
});
