import { accessSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import type { Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { writeNow } from "../host/write-now.ts";

interface Part {
  file: string;
  /** Checksum of the text it was compiled from. */
  text: number;
  /** V8 does not look whether its own bytes are whole: it ends the process over bad ones. */
  code: number;
  length: number;
}

const HEAD = Buffer.from("(function (exports, require, module, __filename, __dirname) {");
const TAIL = Buffer.from("\n})");
const DAY_MS = 86_400_000;

/**
 * What V8 made of the files that one command loads, kept from run to run: compiling them takes longer than most
 * commands do otherwise. It holds code and none of a run's data. Whoever could write it could run code as its reader,
 * so it counts only where nobody but its owner can. Where it cannot be used, everything is compiled as ever.
 */
export class CodeCache {
  readonly #file: string;
  readonly #key: string;
  readonly #kept = new Map<string, Part & { bytes: Buffer }>();
  readonly #scripts = new Map<string, { script: Script; text: number }>();
  #isGood: boolean;

  /** `key`: what else the code depends on. */
  constructor(file: string, key: string) {
    this.#file = file;
    this.#key = key;
    this.#isGood = this.#load();
  }

  /** The file as a function of what a CommonJS module is given. */
  load(file: string): Script {
    const name = basename(file);
    const text = readFileSync(file);
    const sum = crc32(text);
    const kept = this.#kept.get(name);
    const cachedData = kept?.text === sum && crc32(kept.bytes) === kept.code ? kept.bytes : undefined;
    const script = new Script(Buffer.concat([HEAD, text, TAIL]).toString(), { filename: file, cachedData });
    if (script.cachedDataRejected !== false) this.#isGood = false;
    this.#scripts.set(name, { script, text: sum });
    return script;
  }

  /** Called when everything has run: what was compiled on the way is in it then. */
  save(): void {
    if (this.#isGood) return;
    try {
      const folder = dirname(this.#file);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isOurs(lstatSync(folder))) return;
      // Before the work, which would be for nothing.
      accessSync(folder, constants.W_OK);
      const bytes: Buffer[] = [];
      const parts = [...this.#scripts].map(([file, { script, text }]): Part => {
        const code = script.createCachedData();
        bytes.push(code);
        return { file, text, code: crc32(code), length: code.length };
      });
      writeNow(this.#file, Buffer.concat([Buffer.from(`${JSON.stringify({ key: this.#key, parts })}\n`), ...bytes]));
    } catch {
      // Nothing depends on it.
    }
  }

  /** Whether it need not be written again. Another day's runs come by what the first one did not need. */
  #load(): boolean {
    try {
      if (!isOurs(lstatSync(dirname(this.#file)))) return false;
      const opened = openSync(this.#file, "r");
      try {
        const stats = fstatSync(opened);
        if (!isOurs(stats)) return false;
        const all = readFileSync(opened);
        let at = all.indexOf("\n") + 1;
        const head = JSON.parse(all.toString("utf8", 0, at)) as { key: unknown; parts: Part[] };
        if (head.key !== this.#key) return false;
        for (const part of head.parts) {
          this.#kept.set(part.file, { ...part, bytes: all.subarray(at, at + part.length) });
          at += part.length;
        }
        return Date.now() - stats.mtimeMs < DAY_MS;
      } finally {
        closeSync(opened);
      }
    } catch {
      return false;
    }
  }
}

/** Windows keeps the user's own folder apart by itself, and has neither numbers nor such bits. */
function isOurs({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
