import { appendFileSync } from "node:fs";
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FileWriteLedger, type FileWriteLedgerOptions } from "./file-write-ledger.ts";
import { ledgerCases, lastingLedgerCases } from "../../../../test/fixtures/write-ledger-cases.ts";
import { MemoryWriteLedger, RETENTION_MS, type WriteLedger } from "./write-ledger.ts";

const result = { content: [{ type: "text", text: "booked" }] };
let folder = "";
let files = 0;
const clock = { now: 1_000 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-ledger-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFile = () => join(folder, "writes", `${files++}.jsonl`);
const opened = (file: string, options: Partial<FileWriteLedgerOptions> = {}) =>
  new FileWriteLedger({ file, platform: process.platform, now: () => clock.now, ...options });

describe.each<[string, () => WriteLedger]>([
  ["in memory", () => new MemoryWriteLedger({ now: () => clock.now })],
  ["in a file", () => opened(newFile())],
])("a ledger %s", (_, open) => {
  ledgerCases({ open, clock });
});

describe("a ledger in a file", () => {
  lastingLedgerCases({
    newStorage: async () => {
      const file = newFile();
      return async () => opened(file);
    },
    clock,
  });

  test("only its owner can read it", async () => {
    const file = newFile();
    await opened(file).begin("a", 9e15);
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o077).toBe(0);
  });

  test("continues after an incomplete line, which does not count", async () => {
    const file = newFile();
    await opened(file).begin("a", 9e15);
    await appendFile(file, '{"key":"b","kind":"pend');
    expect(await opened(file).begin("b", 9e15)).toBeUndefined();
    expect(await opened(file).find("a")).toMatchObject({ kind: "pending" });
    expect(await opened(file).find("b")).toMatchObject({ kind: "pending" });
  });

  test.each<[string, (text: string) => string]>([
    ["of which a letter has changed", (text) => text.replace('"pending"', '"pendins"')],
    ["with a line that is no record", (text) => `${text}hello\n`],
    ["that is something else altogether", () => "\u0001\u0002 not a ledger\n"],
    ["whose name was changed", (text) => text.replace('{"file":"', '{"File":"')],
  ])("%s stops all writes until it is put right", async (_, damage) => {
    const file = newFile();
    const ledger = opened(file);
    await opened(file).begin("a", 9e15);
    const text = await readFile(file, "utf8");
    await writeFile(file, damage(text));
    for (const each of [ledger, ledger, opened(file)]) {
      await expect(each.find("b")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      await expect(each.begin("b", 9e15)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    }
    await writeFile(file, text);
    expect(await opened(file).find("a")).toMatchObject({ kind: "pending" });
    await rm(file);
    expect(await ledger.begin("b", 9e15)).toBeUndefined();
  });

  test.each(["", "{", '{"ke', '{"key":"b"', '{"key":"b","kind":"done","at":12', "\0\0\0\0"])(
    "does not mind what is left of a line that was never whole: %j",
    async (rest) => {
      const file = newFile();
      await opened(file).begin("a", 9e15);
      await appendFile(file, rest);
      expect(await opened(file).begin("b", 9e15)).toBeUndefined();
      expect(await opened(file).find("a")).toMatchObject({ kind: "pending" });
      expect(await opened(file).find("b")).toMatchObject({ kind: "pending" });
    },
  );

  test("keeps its position after a line that was cut inside a character", async () => {
    const file = newFile();
    const ledger = opened(file);
    await ledger.begin("a", 9e15);
    const line = Buffer.from('{"key":"b","kind":"done","at":1,"result":{"content":[{"text":"Zoë');
    await appendFile(file, line.subarray(0, -1));
    for (const key of ["c", "d", "e"]) {
      await opened(file).begin(key, 9e15);
      expect(await ledger.find(key)).toMatchObject({ kind: "pending" });
    }
  });

  test("follows other processes that write it, also when they rewrite it", async () => {
    const file = newFile();
    const [one, other] = [opened(file, { minOutdated: 3 }), opened(file, { minOutdated: 3 })];
    for (let round = 0; round < 10; round++) {
      expect(await one.begin(`a${round}`, 9e15)).toBeUndefined();
      expect(await other.find(`a${round}`)).toMatchObject({ kind: "pending" });
      await other.settle(`a${round}`, { kind: "done", result });
      expect(await one.begin(`a${round}`, 9e15)).toMatchObject({ kind: "done" });
    }
  });

  test("is not used if others can read it", async () => {
    if (process.platform === "win32") return;
    const file = newFile();
    await opened(file).begin("a", 9e15);
    await chmod(file, 0o644);
    await expect(opened(file).begin("b", 9e15)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  test("remembers completed writes, no matter how many are refused after them", async () => {
    const ledger = opened(newFile(), { minOutdated: 4 });
    await ledger.begin("done", 9e15);
    await ledger.settle("done", { kind: "done", result });
    for (let round = 0; round < 30; round++) {
      await ledger.begin(`refused${round}`, 9e15);
      await ledger.settle(`refused${round}`, { kind: "refused" });
    }
    expect(await ledger.find("done")).toMatchObject({ kind: "done", result });
  });

  test("X15: does not forget the first of more than 5,000 writes", async () => {
    clock.now = 1_000;
    const file = newFile();
    const ledger = opened(file);
    await ledger.begin("first", 9e15);
    await ledger.settle("first", { kind: "done", result });
    const others = Array.from({ length: 12_000 }, (_, index) => [
      JSON.stringify({ key: `other${index}`, kind: "pending", at: clock.now, until: 9e15 }),
      JSON.stringify({ key: `other${index}`, kind: "done", at: clock.now, result }),
    ]);
    await appendFile(file, `${others.flat().join("\n")}\n`);
    const before = await linesOf(file);
    await ledger.begin("last", 9e15);
    expect(await linesOf(file)).toBeLessThan(before);
    for (const each of [ledger, opened(file)]) {
      expect(await each.begin("first", 9e15)).toMatchObject({ kind: "done", result });
      expect(await each.begin("other11999", 9e15)).toMatchObject({ kind: "done", result });
      expect(await each.begin("last", 9e15)).toMatchObject({ kind: "pending" });
    }
  });

  test("is rewritten without outdated lines: refused writes, and completed ones after a year", async () => {
    clock.now = 1_000;
    const file = newFile();
    const ledger = opened(file, { minOutdated: 4 });
    await ledger.begin("open", 2_000);
    await ledger.begin("unknown", 9e15);
    await ledger.settle("unknown", { kind: "unknown" });
    await ledger.begin("old", 9e15);
    await ledger.settle("old", { kind: "done", result });
    clock.now += RETENTION_MS;
    await ledger.begin("young", 9e15);
    await ledger.settle("young", { kind: "done", result });
    clock.now += 1;
    for (let round = 0; round < 20; round++) {
      await ledger.begin("refused", 9e15);
      await ledger.settle("refused", { kind: "refused" });
    }
    expect(await linesOf(file)).toBeLessThan(15);
    const kinds = ["open", "unknown", "young", "old"].map(async (key) => (await ledger.find(key))?.kind);
    expect(await Promise.all(kinds)).toEqual(["unknown", "unknown", "done", undefined]);
  });

  test("answers while it is being rewritten", async () => {
    clock.now = 1_000;
    const ledger = opened(newFile(), { minOutdated: 2 });
    await ledger.begin("open", 9e15);
    for (const key of ["a", "b", "c"]) {
      await ledger.begin(key, 9e15);
      await ledger.settle(key, { kind: "done", result: { content: [{ type: "text", text: key.repeat(99) }] } });
    }
    const writing = async () => {
      for (let round = 0; round < 15; round++) {
        await ledger.begin("refused", 9e15);
        await ledger.settle("refused", { kind: "refused" });
      }
    };
    const asking = async () => {
      for (let round = 0; round < 100; round++) {
        expect(await ledger.find("c")).toMatchObject({ result: { content: [{ text: "c".repeat(99) }] } });
      }
    };
    await Promise.all([writing(), ...Array.from({ length: 5 }, asking)]);
  });

  test("of two processes that recorded the same write, the one whose line comes first may send it", async () => {
    clock.now = 1_000;
    const file = newFile();
    const other = JSON.stringify({ key: "a", kind: "pending", at: clock.now, until: 9e15, by: "other" });
    await opened(file).begin("b", 9e15);
    // As if the lock had been lost between the look at the file and the line that is added to it.
    let calls = 0;
    const interrupted = opened(file, {
      now: () => {
        if (calls++ === 1) appendFileSync(file, `${other}\n`);
        return clock.now;
      },
    });
    expect(await interrupted.begin("a", 9e15)).toMatchObject({ kind: "pending", by: "other" });
    expect(await opened(file).find("a")).toMatchObject({ kind: "pending", by: "other" });
  });
});

async function linesOf(file: string): Promise<number> {
  return (await readFile(file, "utf8")).split("\n").length - 1;
}
