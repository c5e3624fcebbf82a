import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { packageBin } from "./server-process.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-interop-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

test("the public server-memory remembers from one connection to the next, where its own environment says (R10, N2)", async () => {
  const file = join(folder, "memory.jsonl");
  const entry = {
    command: process.execPath,
    args: [packageBin("@modelcontextprotocol/server-memory")],
    env: { MEMORY_FILE_PATH: file },
  };
  const ada = { name: "Ada", entityType: "person", observations: ["writes programs"] };

  const writer = await connect(entry);
  await writer.callTool("create_entities", { entities: [ada] });
  await writer.close();
  expect(await readFile(file, "utf8")).toContain("writes programs");

  const reader = await connect(entry);
  const graph = await reader.callTool("read_graph", {});
  await reader.close();
  expect(graph).toMatchObject({ structuredContent: { entities: [ada] } });
});
