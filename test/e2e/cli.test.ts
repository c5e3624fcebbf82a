import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

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
  expect((await nexus("--help")).stdout).toContain("Usage: nexus <command>");
  expect((await nexus("demo", "--help")).stdout).toContain("Usage: nexus demo");
  expect(await nexus("demmo")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(`There is no command "demmo"`) as string,
  });
  const { stderr } = await nexus("demmo", "--json");
  expect(JSON.parse(stderr)).toMatchObject({ error: { message: `There is no command "demmo"` } });
});
