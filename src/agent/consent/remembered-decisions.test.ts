import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RememberedDecisions } from "./remembered-decisions.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-consent-"));
  file = join(folder, "consent.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () => new RememberedDecisions({ folder, platform: process.platform });
const subject = (tool: string) => ({ server: "files", tool, entry: "e1", definition: "d1" });

test("remembers decisions in a file that only its owner can read", async () => {
  await open().remember(subject("delete"));
  expect(await open().has(subject("delete"))).toBe(true);
  expect(await open().has({ ...subject("delete"), definition: "d2" })).toBe(false);
  expect(await open().has({ ...subject("delete"), entry: "e2" })).toBe(false);
  expect(await open().has({ ...subject("delete"), server: "other" })).toBe(false);
  if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a new decision about a tool replaces the old one, and forgotten ones no longer count", async () => {
  await open().remember(subject("delete"));
  await open().remember({ ...subject("delete"), definition: "d2" });
  expect(await open().list()).toHaveLength(1);
  expect(await open().forget(({ tool }) => tool === "delete")).toHaveLength(1);
  expect(await open().has({ ...subject("delete"), definition: "d2" })).toBe(false);
  expect(await open().forget(() => true)).toEqual([]);
});

test("two that write at once lose no decision", async () => {
  const [one, other] = [open(), open()];
  const tools = Array.from({ length: 10 }, (_, index) => `tool${index}`);
  await Promise.all(tools.map((tool, index) => (index % 2 === 0 ? one : other).remember(subject(tool))));
  expect((await open().list()).map(({ tool }) => tool).sort()).toEqual(tools);
});

test("keeps the newest thousand decisions", async () => {
  const decisions = Array.from({ length: 1_000 }, (_, index) => ({
    ...subject(`tool${index}`),
    decidedAt: "2026-01-01T00:00:00.000Z",
  }));
  await writeFile(file, JSON.stringify({ decisions }), { mode: 0o600 });
  await open().remember(subject("newest"));
  const known = await open().list();
  expect(known).toHaveLength(1_000);
  expect(known[0]?.tool).toBe("tool1");
  expect(known.at(-1)?.tool).toBe("newest");
});

test.each([
  ["no JSON", "{"],
  ["another form", `{"decisions":{}}`],
  ["an incomplete decision", `{"decisions":[{"server":"files","tool":"delete"}]}`],
])("a damaged file with %s allows nothing and is not overwritten", async (_what, text) => {
  await writeFile(file, text, { mode: 0o600 });
  await expect(open().has(subject("delete"))).rejects.toMatchObject({ code: "DATA_DAMAGED" });
  await expect(open().remember(subject("delete"))).rejects.toMatchObject({ code: "DATA_DAMAGED" });
  expect(await readFile(file, "utf8")).toBe(text);
});

test.runIf(process.platform !== "win32")("a file that others can change allows nothing", async () => {
  await open().remember(subject("delete"));
  await chmod(file, 0o666);
  await expect(open().has(subject("delete"))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("an absurdly long name is not remembered", async () => {
  await expect(open().remember(subject("x".repeat(2_000)))).rejects.toThrow("at most 1000");
});
