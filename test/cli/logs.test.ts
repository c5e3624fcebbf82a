import { once } from "node:events";
import { appendFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userFolders } from "../../src/files/user-folders.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

let world: NexusWorld;
let file: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.configure({
    crash: stdioFixture(["--misbehave", "die-at-start"]),
    notes: stdioFixture(),
    remote: { url: "http://127.0.0.1:9/mcp" },
  });
  const surroundings = { platform: process.platform, variables: {}, proxy: {}, extraCertificates: [] };
  const folder = join(userFolders({ ...surroundings, home: world.home }).state, "logs");
  file = join(folder, "notes.log");
  await mkdir(folder, { recursive: true });
});

afterAll(() => world[Symbol.asyncDispose]());

test("what a server wrote to stderr is kept and shown, although it died (P1.9)", async () => {
  expect((await world.run(["mcp", "ping", "crash"])).code).toBe(4);
  const lines = ["everything: cannot open the database", "everything: giving up"];
  const { code, stdout, stderr } = await world.run(["mcp", "logs", "crash", "--lines", "2"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
  expect(stdout).toMatch(new RegExp(`^${lines.map((line) => `${time} ${line}\n`).join("")}$`));

  const json = await world.run(["mcp", "logs", "crash", "--lines", "2", "--json"]);
  const parsed = JSON.parse(json.stdout) as { lines: string[]; times: string[] };
  expect(parsed.lines).toEqual(lines);
  for (const at of parsed.times) expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(600_000);
});

test("nothing yet says so, and how to get some; a server reached by URL keeps its own", async () => {
  const nothing = await world.run(["mcp", "logs", "notes"]);
  expect(nothing).toMatchObject({ code: 0, stdout: "" });
  expect(nothing.stderr).toContain("nexus mcp connect notes");
  expect((await world.run(["mcp", "logs", "remote"])).stderr).toContain("Its log is on the machine where it runs");
  const json = await world.run(["mcp", "logs", "notes", "--json"]);
  expect(JSON.parse(json.stdout)).toEqual({ server: "notes", file, lines: [], times: [] });
});

test("times are shown in the reader's time zone, and lines of older versions without one", async () => {
  await writeFile(file, "older\n2026-01-31T23:30:00.250Z newer\n");
  const { stdout } = await world.run(["mcp", "logs", "notes"], { env: { TZ: "Asia/Tokyo" } });
  expect(stdout).toBe("older\n2026-02-01 08:30:00 newer\n");
  const json = await world.run(["mcp", "logs", "notes", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    lines: ["older", "newer"],
    times: [null, "2026-01-31T23:30:00.250Z"],
  });
  await rm(file);
});

test("the last lines of both files, 50 unless told, with control characters made visible for people only", async () => {
  const older = Array.from({ length: 60 }, (_, index) => `older ${index}\n`).join("");
  await writeFile(`${file}.1`, older);
  await writeFile(file, "newer é\r\n\u001b[31mred\n");
  const { stdout } = await world.run(["mcp", "logs", "notes"]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(50);
  expect(lines.slice(-3)).toEqual(["older 59", "newer é", "\\x1b[31mred"]);
  const json = await world.run(["mcp", "logs", "notes", "-n", "1", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ lines: ["\u001b[31mred"] });
});

test("--follow goes on with what is added, over a change of files, until Ctrl-C", async () => {
  await writeFile(file, "before\n");
  const { child, output } = world.start(["mcp", "logs", "notes", "--follow", "--lines", "1"]);
  await expect.poll(() => output.stdout).toBe("before\n");
  await appendFile(file, "half a ");
  await appendFile(file, "line\n");
  await expect.poll(() => output.stdout).toBe("before\nhalf a line\n");
  await rename(file, `${file}.1`);
  await writeFile(file, "a new file\n");
  await expect.poll(() => output.stdout).toBe("before\nhalf a line\na new file\n");
  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(130);
});

test("--follow --json writes one object a line", async () => {
  await writeFile(file, "one\n2026-01-31T23:30:00.250Z two\n");
  const { child, output } = world.start(["mcp", "logs", "notes", "--follow", "--json", "--lines", "2"]);
  await expect
    .poll(() => output.stdout)
    .toBe(`{"server":"notes","line":"one"}\n{"server":"notes","line":"two","time":"2026-01-31T23:30:00.250Z"}\n`);
  expect(output.stderr).toBe("");
  child.kill("SIGINT");
  await once(child, "close");
});

test("an unknown server ends with 6 and what was meant, a wrong number with 2", async () => {
  const unknown = await world.run(["mcp", "logs", "note"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain(`Did you mean "notes"?`);
  const wrong = await world.run(["mcp", "logs", "notes", "--lines", "many"]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect((await world.run(["mcp", "logs"])).code).toBe(2);
});
