import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserCommand } from "./open-browser.ts";

const PAGE = new URL("https://issuer.example/authorize?a=1&b=$(id)");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-browser-"));
  for (const name of ["xdg-open", "open", "firefox"]) {
    await writeFile(join(folder, name), "#!/bin/sh\n");
    await chmod(join(folder, name), 0o755);
  }
});
afterAll(() => rm(folder, { recursive: true }));

test.skipIf(process.platform === "win32")("the page is one argument of a program, never of a shell (R8)", () => {
  const at = (name: string) => ({ program: join(folder, name), args: [PAGE.href] });
  const variables = { PATH: folder, DISPLAY: ":0" };
  expect(browserCommand(PAGE, { platform: "linux", variables })).toEqual(at("xdg-open"));
  expect(browserCommand(PAGE, { platform: "darwin", variables })).toEqual(at("open"));
  const chosen = { PATH: folder, BROWSER: "firefox" };
  expect(browserCommand(PAGE, { platform: "linux", variables: chosen })).toEqual(at("firefox"));
  const withShell = { ...variables, BROWSER: "firefox; id" };
  expect(browserCommand(PAGE, { platform: "linux", variables: withShell })).toEqual(at("xdg-open"));
});

test("on Windows no command interpreter sees the page", () => {
  expect(browserCommand(PAGE, { platform: "win32", variables: { SystemRoot: "C:\\Windows" } })).toEqual({
    program: "C:\\Windows\\System32\\rundll32.exe",
    args: ["url.dll,FileProtocolHandler", PAGE.href],
  });
});

test("without a display, and for other addresses than web pages, no program is started", () => {
  expect(browserCommand(PAGE, { platform: "linux", variables: { PATH: folder } })).toBeUndefined();
  const variables = { PATH: folder, DISPLAY: ":0" };
  for (const address of ["file:///etc/passwd", "javascript:alert(1)", "vscode://x"]) {
    expect(browserCommand(new URL(address), { platform: "linux", variables })).toBeUndefined();
  }
});
