import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BrokenServers } from "../fixtures/broken-servers.ts";
import { NexusWorld, type Ran } from "../fixtures/nexus.ts";
import { isRunning } from "../fixtures/processes.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";

const DEMO = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));

/** Ten that are broken, each in its own way, and what the one line about it says. */
const BROKEN: Record<string, RegExp> = {
  "two-ways": /has both "command" and "url" – Use one/,
  "unset-variable": /the variable NEXUS_TEST_UNSET_KEY is not set – Set it/,
  "not-found": /Command not found: mcp-no-such-server – Install it/,
  forbidden: /Not allowed to run .* – The file is not marked as executable/,
  crash: /exited with code 3: everything: giving up/,
  hangs: /Not connected within 3 s.* – The command does not start an MCP server/,
  refused: /Nothing is listening at .* – Start the server/,
  "no-host": /could not be resolved – Check the spelling/,
  "wants-login": /requires a login \(HTTP 401\) – Run "nexus mcp login wants-login"/,
  page: /a web page titled "Welcome", not an MCP message/,
};

const GOOD = Array.from({ length: 40 }, (_, index) => `good-${index}`);

let world: NexusWorld;
let broken: BrokenServers;
let http: HttpFixture;
let pids: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  broken = new BrokenServers(world);
  http = await startHttpFixture();
  pids = join(world.root, "pids");
  const note = `const note = (pid) => require("node:fs").appendFileSync(${JSON.stringify(pids)}, pid + "\\n");
note(process.pid);
process.on("exit", () => note(-process.pid));`;
  const preload = await world.write("note.cjs", note);
  const all = await broken.entries();
  const demo = { command: process.execPath, args: ["--require", preload, DEMO] };
  const good = GOOD.map((id, index) => [id, index % 4 === 0 ? demo : { url: http.url }] as const);
  const bad = Object.keys(BROKEN).map((id) => [id, all[id]] as const);
  // Mixed, so that what works stands before and behind what does not.
  const mixed = good.flatMap((entry, index) => (index % 4 === 0 ? [entry, bad[index / 4] ?? entry] : [entry]));
  await world.configure(Object.fromEntries(mixed));
});

afterAll(async () => {
  await broken[Symbol.asyncDispose]();
  await http.close();
  await world[Symbol.asyncDispose]();
});

/** Process ids in the order in which servers started and, negative, ended. */
const life = () => readFileSync(pids, "utf8").trim().split("\n").map(Number);
const started = () => life().filter((pid) => pid > 0);

function mostAtOnce(events: readonly number[]): number {
  let [running, most] = [0, 0];
  for (const event of events) most = Math.max(most, (running += Math.sign(event)));
  return most;
}

test("N9: servers shows all fifty and connects to none", async () => {
  const { code, stdout, stderr } = await world.run(["mcp", "servers"]);
  expect(code).toBe(0);
  for (const id of [...GOOD, ...Object.keys(BROKEN)]) expect(stdout).toMatch(new RegExp(`^${id} `, "m"));
  expect(stdout.match(/ not used yet /g)).toHaveLength(48);
  expect(stdout.match(/ cannot run /g)).toHaveLength(2);
  expect(stderr).toMatch(/^50 servers in 1 file$/m);
  expect(() => started()).toThrow("ENOENT");
  expect(http.transcript.entries).toEqual([]);
});

test("N9: of fifty servers, ten broken in different ways, forty are listed, each failure is a line with its cause, and the exit code is 4", async () => {
  const { code, stdout, stderr }: Ran = await world.run(["mcp", "tools"]);

  expect(code).toBe(4);
  const listed = [...stdout.matchAll(/^(\S+) +\d+ tools +[\d.]+ m?s$/gm)].map(([, id]) => id);
  expect(listed).toEqual([...GOOD].sort());
  const lines = stderr.trimEnd().split("\n");
  const failures = lines.filter((line) => line.startsWith("nexus:"));
  expect(failures).toHaveLength(10);
  for (const [id, cause] of Object.entries(BROKEN)) {
    const about = failures.filter((line) => line.startsWith(`nexus: ${id}: `) || line.includes(`"${id}"`));
    expect(about, id).toHaveLength(1);
    expect(about[0]).toMatch(cause);
  }
  expect(lines).toHaveLength(13);
  expect(lines.at(-3)).toContain("nexus mcp doctor SERVER");
  expect(lines.at(-2)).toMatch(/^\d+ tools from 40 servers in [\d.]+ s; 10 failed$/);
  expect(lines.at(-1)).toBe("Name a server to see its tools, or add --details to see all.");
  await expect.poll(() => started().filter(isRunning)).toEqual([]);
  expect(mostAtOnce(life())).toBeLessThanOrEqual(8);
});

test("N9: for programs the same is one document, in the order of the configuration", async () => {
  const { code, stdout, stderr } = await world.run(["mcp", "prompts", "--json"]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: "" });
  const { items, errors } = JSON.parse(stdout) as { items: { server: string }[]; errors: { server: string }[] };
  const { servers } = JSON.parse((await world.run(["mcp", "servers", "--json"])).stdout) as {
    servers: { id: string }[];
  };
  const order = servers.map(({ id }) => id);
  const unique = (list: { server: string }[]) => [...new Set(list.map(({ server }) => server))];
  expect(unique(items)).toEqual(order.filter((id) => GOOD.includes(id)));
  expect(unique(errors)).toEqual(order.filter((id) => id in BROKEN));
});
