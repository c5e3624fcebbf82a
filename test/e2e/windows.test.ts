import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isRunning } from "../fixtures/processes.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const program = fileURLToPath(new URL("../fixtures/windows/connect-as-windows.mjs", import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-windows-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function script(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}

test("npx is found as npx.cmd through PATHEXT, started by the command interpreter without a shell of ours, and its tree is ended (P2.0)", async () => {
  const { command, args } = stdioFixture([
    "--revision",
    "2025-11-25",
    "--misbehave",
    "ignore-stdin-end",
    "--misbehave",
    "crlf",
  ]);
  await script("npx.CMD", "exit 1");
  const server = [command, ...args].map((word) => `'${word}'`).join(" ");
  const comspec = await script(
    "comspec",
    `printf '%s\\n' "$@" > '${folder}/cmd.log'\n/usr/bin/env > '${folder}/env.log'\nexec ${server}`,
  );
  // A full path of Windows is a plain name here, so that it can be found.
  await script("C:\\Windows\\System32\\taskkill.exe", `echo "$@" >> '${folder}/kill.log'\nkill -9 "$2"`);
  // What a cloned project could bring along.
  const project = await mkdtemp(join(folder, "project-"));
  for (const name of ["taskkill", "taskkill.exe", "npx", "npx.CMD", "npx.cmd", "npx.EXE"]) {
    await script(join(relative(folder, project), name), `echo "${name} $*" >> '${folder}/planted.log'\nexit 1`);
  }

  const env = {
    Path: folder,
    PATHEXT: ".EXE;.CMD",
    SystemRoot: "C:\\Windows",
    SECRET: "s",
    comspec,
    // Node itself looks for taskkill in here, on this platform; the working folder comes first, as on Windows.
    PATH: `:${folder}`,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env, cwd: project });
  const { text, pid } = JSON.parse(stdout) as { text: string; pid: number };

  expect(text).toBe("from windows");
  const [d, s, c, line] = (await readFile(join(folder, "cmd.log"), "utf8")).split("\n");
  expect([d, s, c]).toEqual(["/d", "/s", "/c"]);
  expect(line).toContain(join(folder, "npx.CMD"));
  expect(line).toContain("^&");

  const variables = await readFile(join(folder, "env.log"), "utf8");
  expect(variables).toContain("SystemRoot=C:\\Windows");
  expect(variables).toContain("OWN=1");
  expect(variables).not.toContain("SECRET");

  expect(await readFile(join(folder, "kill.log"), "utf8")).toBe(`/pid ${pid} /T /F\n`);
  expect(existsSync(join(folder, "planted.log"))).toBe(false);
  expect(isRunning(pid)).toBe(false);
});

test("a command that is not there is named before anything is started, also where the working folder has it (P2.0)", async () => {
  const project = await mkdtemp(join(folder, "empty-"));
  for (const name of ["npx", "npx.CMD"])
    await script(join(relative(folder, project), name), `touch '${folder}/started'`);
  const comspec = await script("interpreter", `touch '${folder}/started'`);
  const env = { Path: join(folder, "nothing"), PATHEXT: ".EXE;.CMD", SystemRoot: "C:\\Windows", comspec };
  const running = promisify(execFile)(process.execPath, [program], { env, cwd: project });
  const { stderr } = (await running.catch((error: unknown) => error)) as { stderr: string };
  expect(stderr).toContain("Command not found: npx");
  expect(stderr).toContain("COMMAND_NOT_FOUND");
  expect(existsSync(join(folder, "started"))).toBe(false);
});
