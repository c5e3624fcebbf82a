import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { Sightings } from "./sightings.ts";

const SERVER = { id: "s", entry: { reach: { kind: "stdio", command: "s" } } } as unknown as ServerDefinition;
let folder: string;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  folder = await mkdtemp(join(tmpdir(), "nexus-seen-"));
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

test("a known sighting of the last minute is not written again; a new or old one is", async () => {
  const sightings = new Sightings(folder);
  const file = join(folder, "s.json");
  await sightings.note(SERVER, { tools: ["a"] });
  const { ino } = await stat(file);

  vi.advanceTimersByTime(30_000);
  await sightings.note(SERVER, { tools: ["a"] });
  expect((await stat(file)).ino).toBe(ino);

  await sightings.note(SERVER, { tools: ["a", "b"] });
  expect(await sightings.find(SERVER)).toMatchObject({ tools: ["a", "b"], at: Date.now() });

  vi.advanceTimersByTime(60_000);
  await sightings.note(SERVER, { tools: ["a", "b"] });
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ tools: ["a", "b"], at: Date.now() });
});
