import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lasting, runShown, shownSessions } from "../fixtures/shown-commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the checkout, where the name of the package is known. */
const folder = join(root, "build/documents/server-guide");
const guide = await readFile(join(root, "docs/guide/server.md"), "utf8");
const [onPipe, overHttp] = [
  shownSessions(guide).filter(({ command }) => command.includes("--stdio")),
  shownSessions(guide).filter(({ command }) => command.includes("--url")),
];
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "nexus-server-guide-"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "server.mjs"), /^```mjs\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? "");
});

afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

const posix = test.runIf(process.platform !== "win32");

posix("N14: the server of the guide answers on a pipe what the guide shows", async () => {
  expect(onPipe).toHaveLength(2);
  for (const { command, output } of onPipe) {
    const ran = await runShown(command, { root, home, folder });
    expect(ran.code, ran.output).toBe(0);
    expect(lasting(ran.output)).toBe(lasting(output));
  }
});

posix("N14: the server of the guide stays up over HTTP until it is interrupted, and then ends by itself", async () => {
  const env = { ...process.env, PORT: "0" };
  const child = spawn(process.execPath, ["server.mjs", "--http"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const ended = once(child, "close");
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const url = line.replace("Listening on ", "");
    expect(overHttp).toHaveLength(1);
    for (const { command, output } of overHttp) {
      const ran = await runShown(command.replace("http://127.0.0.1:3000/mcp", url), { root, home, folder });
      expect(ran).toEqual({ code: 0, output });
    }
    expect(child.exitCode).toBeNull();
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
