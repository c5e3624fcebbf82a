import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodeCache } from "./code-cache.ts";

const SOURCE = `exports.greet = function greet(name) { return "hello " + name; };`;
let root: string;
let chunk: string;
let kept: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nexus-code-"));
  chunk = join(root, "chunk.cjs");
  kept = join(root, "code", "command.bin");
  writeFileSync(chunk, SOURCE);
});

afterEach(() => rmSync(root, { recursive: true }));

/** A run of a program with one file: whether its code was there already, and what it says. */
function run(key = "1"): { found: boolean; said: string } {
  const cache = new CodeCache(kept, key);
  const script = cache.load(chunk);
  const exports = {} as { greet: (name: string) => string };
  (script.runInThisContext() as (exports: object) => void)(exports);
  const said = exports.greet("you");
  cache.save();
  return { found: script.cachedDataRejected === false, said };
}

test("the second run finds what the first one compiled, and writes nothing", () => {
  expect(run()).toEqual({ found: false, said: "hello you" });
  const { ino, mode } = statSync(kept);
  expect(run()).toEqual({ found: true, said: "hello you" });
  expect(statSync(kept).ino).toBe(ino);
  if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600);
  expect(readdirSync(join(root, "code"))).toEqual(["command.bin"]);
});

test("code of another text, another version or another day does not stay", () => {
  run();
  writeFileSync(chunk, SOURCE.replace("hello", "salve"));
  expect(run()).toEqual({ found: false, said: "salve you" });
  expect(run("2").found).toBe(false);
  const { ino } = statSync(kept);
  const dayBefore = Date.now() / 1000 - 90_000;
  utimesSync(kept, dayBefore, dayBefore);
  expect(run("2").found).toBe(true);
  expect(statSync(kept).ino).not.toBe(ino);
});

test("V8 never sees code in which any byte is wrong or missing", () => {
  run();
  const whole = readFileSync(kept);
  const codeAt = whole.indexOf("\n") + 1;
  for (let at = 0; at < whole.length; at += 7) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    writeFileSync(kept, damaged);
    const { found, said } = run();
    expect(said).toBe("hello you");
    if (at >= codeAt) expect(found, `byte ${at}`).toBe(false);
  }
  for (const length of [0, codeAt - 1, codeAt, whole.length - 1]) {
    writeFileSync(kept, whole.subarray(0, length));
    expect(run()).toEqual({ found: false, said: "hello you" });
  }
});

test("where nothing can be written, everything runs as ever", () => {
  writeFileSync(join(root, "code"), "no folder");
  expect(run()).toEqual({ found: false, said: "hello you" });
  expect(run()).toEqual({ found: false, said: "hello you" });
});

test.skipIf(process.platform === "win32")(
  "a file that others can write is not read, and one of ours takes its place",
  () => {
    run();
    chmodSync(kept, 0o620);
    expect(run().found).toBe(false);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(run().found).toBe(true);
  },
);

test.skipIf(process.platform === "win32")("a folder that others can write is neither read nor written", () => {
  run();
  const { ino } = statSync(kept);
  chmodSync(join(root, "code"), 0o777);
  expect(run().found).toBe(false);
  expect(statSync(kept).ino).toBe(ino);
});

test.skipIf(process.getuid?.() !== 0)("what belongs to somebody else is neither read nor written", () => {
  run();
  chownSync(kept, 12_345, 12_345);
  expect(run().found).toBe(false);
  expect(run().found).toBe(true);
  chownSync(join(root, "code"), 12_345, 12_345);
  expect(run().found).toBe(false);
  rmSync(kept);
  run();
  expect(readdirSync(join(root, "code"))).toEqual([]);
});
