import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../api/museum/", import.meta.url));
const FOLDER = "home/work/project/api/museum";
const FILE = `${FOLDER}/museum.nexus.yaml`;
const LOCK = `${FOLDER}/museum.nexus.lock`;
const CALL = ["mcp", "call", "museum.opening_hours", "--args", `{"museumId":7,"date":"2026-03-01"}`];
const EVIL = "museums.evil.example";

vi.setConfig({ testTimeout: 120_000 });

/** Somebody else, with an account of their own, who can write into the same folder. */
let stranger: NexusWorld;
let world: NexusWorld;
let path: string;

beforeAll(async () => {
  stranger = await NexusWorld.open();
});
afterAll(() => stranger[Symbol.asyncDispose]());

beforeEach(async () => {
  world = await NexusWorld.open();
  path = join(world.root, FILE);
  await cp(MUSEUM, join(world.root, FOLDER), { recursive: true });
  await edit((text) => text.replace("title: City museums", "title: Our museums"));
  await world.configure({ museum: { api: path, upstream: "fake" } });
});
afterEach(() => world[Symbol.asyncDispose]());

async function edit(change: (text: string) => string): Promise<void> {
  const text = await world.read(FILE);
  const changed = change(text);
  expect(changed).not.toBe(text);
  await world.write(FILE, changed);
}

const approve = (as: NexusWorld, ...more: string[]) =>
  as.run(["api", "approve", path, "--by", "Ada", "--yes", ...more]);

/** Changes the file, and writes a lock that says that this was approved. */
async function replace(): Promise<void> {
  await edit((text) => text.replaceAll("api.museums.example", EVIL));
  expect((await approve(stranger)).code).toBe(0);
}

test("X12: a lock that somebody else wrote opens nothing: each user approves a tool file on their own", async () => {
  expect((await approve(world)).code).toBe(0);
  expect((await world.run(CALL)).code).toBe(0);
  await replace();
  const refused = await world.run(CALL);
  expect(refused.code).toBe(8);
  expect(refused.stderr).toContain("was approved, but not by you");
  expect(refused.stderr).toContain(`nexus api approve ${path}`);

  const lock = await world.read(LOCK);
  const shown = await approve(world);
  expect(shown.stdout).toContain(EVIL);
  expect(shown.stdout).toContain("tool added");
  expect(await world.read(LOCK)).toBe(lock);
  expect((await world.run(CALL)).code).toBe(0);
  expect((await approve(world)).stdout).toContain("This version is already approved.");
});

test("X12: what is shown for approval is all of it, not what differs from a lock that somebody else wrote", async () => {
  await replace();
  await edit((text) => text.replace("version: 1.0.0", "version: 1.0.1"));
  const diff = await world.run(["api", "diff", path]);
  expect(diff.code).toBe(8);
  expect(diff.stdout).toContain(`https://${EVIL}/`);
  const approved = await approve(world);
  expect(approved.stdout).toContain("tool added");
  expect(approved.stdout).toContain(EVIL);
  await edit((text) => text.replace("version: 1.0.1", "version: 1.0.2"));
  expect((await world.run(["api", "diff", path])).stdout).toMatch(/^1 change since the approval/);
});

test("X12: api check and api diff say whose approval it is, with --trust that of anybody counts", async () => {
  await replace();
  expect((await world.run(["api", "check", path])).stdout).toMatch(/Approved by Ada .*, but not by you\. To serve it/);
  expect((await world.run(["api", "diff", path, "--trust"])).code).toBe(0);
  const { code, stdout } = await world.run(["api", "diff", path, "--json"]);
  expect([code, JSON.parse(stdout)]).toEqual([8, expect.objectContaining({ approved: false })]);
});

test("X12: --trust takes approvals as they are for one run, and a gateway keeps to what it saw first", async () => {
  expect((await approve(stranger)).code).toBe(0);
  expect((await world.run([...CALL, "--trust"])).code).toBe(0);
  expect((await world.run(CALL)).code).toBe(8);

  const { child, output } = world.start(["serve", "--port", "0", "--trust"]);
  await expect.poll(() => output.stdout).toContain("Ctrl-C");
  expect(output.stdout).toMatch(/museum +ready/);
  const [url = ""] = /http:\/\/[\d.:]+\/mcp/.exec(output.stdout) ?? [];
  const hours = ["mcp", "request", "--url", url, "tools/call"];
  const params = `{"name":"museum__opening_hours","arguments":{"museumId":7,"date":"2026-03-01"}}`;
  expect((await world.run([...hours, params])).code).toBe(0);
  await replace();
  // Another caller gets a connection of its own, for which the file is read again.
  await world.configure({ museum: { api: path, upstream: "fake", timeout: "7s" } });
  await expect.poll(() => output.stderr).toContain("was approved, but not by you");
  child.kill();
});

test("X12: trusting a project shows where its tool files send requests, and accepts them as shown", async () => {
  await world.configure({});
  await world.write("home/work/project/.mcp.json", {
    mcpServers: { museum: { api: FILE.slice(18), upstream: "fake" } },
  });
  expect((await approve(stranger)).code).toBe(0);
  const trusted = await world.run(["mcp", "trust", "--yes"]);
  expect(trusted.stdout).toContain("https://api.museums.example/v1/");
  expect(trusted.stdout).toContain("museum.token");
  expect((await world.run(CALL)).code).toBe(0);
  await replace();
  expect((await world.run(CALL)).code).toBe(8);
  await world.run(["mcp", "trust", "--yes"]);
  expect((await world.run(CALL)).code).toBe(0);
  await world.run(["mcp", "trust", "--revoke"]);
  expect((await world.run(["api", "check", path])).stdout).toContain("but not by you");
});

test("X12: what comes with the package is approved with it, wherever it lies, as long as it is the same", async () => {
  await cp(MUSEUM, join(world.root, FOLDER), { recursive: true });
  expect((await world.run(CALL)).code).toBe(0);
  await edit((text) => text.replaceAll("api.museums.example", EVIL));
  expect((await world.run(CALL)).code).toBe(8);
});
