import { fstatSync } from "node:fs";
import { wrongUsage } from "../command/command-line.ts";

/** How long a pipe may be silent before a prompt on the command line is sent without it. */
const SILENCE_MS = 3_000;
const MAX_BYTES = 10_000_000;

/** All of standard input. */
export function readInput(): Promise<string> {
  return read(undefined).then((text) => text ?? "");
}

/**
 * What is piped to a command that has its prompt on the command line: `cat log | nexus chat -p "What failed?"`. Only a pipe of a
 * shell or a file counts: a program that starts others leaves their input open without an end. Undefined if nothing
 * comes.
 */
export async function readPiped(): Promise<string | undefined> {
  return isPiped() ? read(SILENCE_MS) : undefined;
}

function isPiped(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile();
  } catch {
    // There is no standard input.
    return false;
  }
}

/** Undefined if nothing comes within the time. */
function read(silenceMs: number | undefined): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { stdin } = process;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      stdin.removeAllListeners("data").removeAllListeners("end").removeAllListeners("error");
      stdin.pause();
      // A pipe without an end would keep the program running.
      stdin.destroy();
      settle();
    };
    const timer = silenceMs === undefined ? undefined : setTimeout(() => finish(() => resolve(undefined)), silenceMs);
    stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        finish(() => reject(wrongUsage(`Standard input has more than ${MAX_BYTES} bytes`, "Send a part of it.")));
      }
    });
    stdin.on("end", () => finish(() => resolve(Buffer.concat(chunks).toString("utf8"))));
    stdin.on("error", (error) => finish(() => reject(error)));
  });
}
