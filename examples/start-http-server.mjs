import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts the test server on a free port; in your program this is somebody else's server. */
export async function startHttpServer(revision) {
  const args = ["build/fixtures/everything.cjs", "--http", "--revision", revision];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url: line.replace("listening on ", ""),
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
