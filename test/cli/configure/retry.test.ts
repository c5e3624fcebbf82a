import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userFolders } from "../../../src/files/user-folders.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(() => world[Symbol.asyncDispose]());

interface Remembered {
  era: string;
  expiresAt: number;
}

async function eras(): Promise<Remembered[]> {
  const surroundings = { platform: process.platform, variables: {}, proxy: {}, extraCertificates: [] };
  const file = join(userFolders({ ...surroundings, home: world.home }).state, "eras.json");
  return Object.values(JSON.parse(await readFile(file, "utf8")) as Record<string, Remembered>);
}

test("connects anew, finds the era again, and shows what the server offers", async () => {
  await world.configure({ good: stdioFixture(["--revision", "2025-11-25"]) });
  await world.run(["mcp", "ping", "good"]);
  const [before] = await eras();
  const { code, stdout, stderr } = await world.run(["mcp", "retry", "good"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^✓ good {2}everything 1\.0\.0, 2025-11-25 \(legacy\) – tools \d+, .*read in \d+ ms\n$/);
  const [after] = await eras();
  expect(after?.era).toBe("legacy");
  expect(after?.expiresAt).toBeGreaterThan(before?.expiresAt ?? Infinity);
});

test("one that fails shows the whole error, as an ordinary command does", async () => {
  await world.configure({ crash: stdioFixture(["--misbehave", "die-at-start"]) });
  const { code, stderr } = await world.run(["mcp", "retry", "crash"]);
  expect(code).toBe(4);
  expect(stderr).toContain("stderr:");
  const json = await world.run(["mcp", "retry", "crash", "--json"]);
  expect(json).toMatchObject({ code: 4, stdout: "" });
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "SERVER_EXITED", server: "crash" } });
});

test("without a name, all servers that failed the last time are tried, and only those", async () => {
  const broken = { command: "mcp-no-such-server" };
  await world.configure({ one: broken, two: broken, good: stdioFixture() });
  expect((await world.run(["mcp", "retry"])).stdout).toContain("No server failed");
  await Promise.all(["one", "two", "good"].map((id) => world.run(["mcp", "ping", id])));
  const { code, stderr, stdout } = await world.run(["mcp", "retry"]);
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr).toMatch(/one: Command not found.*\n.*two: Command not found/);
  const json = await world.run(["mcp", "retry", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ items: [], errors: [{ server: "one" }, { server: "two" }] });
});

test("an unknown name ends with 6 and what was meant", async () => {
  await world.configure({ github: stdioFixture() });
  const { code, stderr } = await world.run(["mcp", "retry", "gihtub"]);
  expect(code).toBe(6);
  expect(stderr).toContain(`Did you mean "github"?`);
});
