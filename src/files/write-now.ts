import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a small file as a whole or not at all, for its owner's eyes alone: neither in a thread nor flushed to the disk.
 * What is kept so may get lost, but must not take longer than a start. Others may write it too: the last one wins.
 */
export function writeNow(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.draft`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
