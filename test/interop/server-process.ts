import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** An HTTP server in a child process, and where it listens. */
export interface ServerProcess extends AsyncDisposable {
  url: string;
}

/** A server program of `test/fixtures/interop`. */
export function fixture(file: string): string {
  return fileURLToPath(new URL(`../fixtures/interop/${file}`, import.meta.url));
}

/** The program that an installed package puts on the path. */
export function packageBin(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  const [program] = Object.values(bin);
  if (program === undefined) throw new Error(`${name} has no program`);
  return join(manifest, "..", program);
}

/** Runs a Node program that says `listening on <url>` once it is ready, and ends it when disposed. */
export async function startServer(...args: string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (found) resolve(found);
    });
    ended.then(() => reject(new Error(`${args.join(" ")} ended before it listened`)), reject);
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
