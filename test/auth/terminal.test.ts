import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { expect, test } from "vitest";
import { AuthWorld } from "../fixtures/auth/auth-world.ts";
import { BrowserProgram } from "../fixtures/auth/browser-program.ts";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"].find((name) => {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

async function ended({ child, output }: ReturnType<NexusWorld["inTerminal"]>) {
  const [code] = (await once(child, "close")) as [number | null];
  return { code, shown: output.stdout };
}

test.runIf(HAS_TERMINAL)(
  "N3: a person at a terminal logs in with the browser; a tool that needs more says how to get it",
  async () => {
    await using world = await AuthWorld.open();
    await using nexus = await NexusWorld.open();
    await using browser = await BrowserProgram.start(nexus, world.browser);
    await nexus.configure({ notes: { url: world.server.url } });
    const env = { BROWSER: browser.file };

    expect(await ended(nexus.inTerminal(["mcp", "login", "notes"], { env }))).toMatchObject({
      code: 0,
      shown: expect.stringContaining("Logged in to notes") as string,
    });
    const [page] = await Promise.all(browser.shown.values());
    expect(page).toMatchObject({ status: 200 });

    const refused = await nexus.run(["mcp", "call", "notes.erase"]);
    expect(refused.code).toBe(8);
    const [, again = ""] = /Run "nexus (mcp login [^"]*)"/.exec(refused.stderr) ?? [];
    expect(again).toBe("mcp login notes --scope mcp:use --scope mcp:admin");
    expect((await nexus.run(again.split(" "), { env })).code).toBe(0);
    expect(await nexus.run(["mcp", "call", "notes.erase"])).toMatchObject({ code: 0, stdout: "gone\n" });
  },
);

test.runIf(HAS_TERMINAL)("N3: over SSH, a person pastes the address of the browser into the terminal", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await nexus.configure({ notes: { url: world.server.url } });
  const terminal = nexus.inTerminal(["mcp", "login", "notes", "--no-browser"], { columns: 1000 });
  const done = ended(terminal);

  const shownPage = () => /https?:\/\/\S+\/authorize\S+/.exec(terminal.output.stdout)?.[0];
  await expect.poll(() => /Address/.test(terminal.output.stdout) && shownPage() !== undefined).toBe(true);
  const page = new URL(shownPage() ?? "");
  const back = await world.browser.authorize(page, page.searchParams.get("redirect_uri") ?? "");
  terminal.child.stdin?.write(`${back.href}\r`);

  expect(await done).toMatchObject({ code: 0, shown: expect.stringContaining("Logged in to notes") as string });
  expect((await nexus.run(["mcp", "call", "notes.echo", "--arg", "text=hello"])).stdout).toBe("hello\n");
});

test.runIf(HAS_TERMINAL && CHROMIUM !== undefined)("N3: a real browser completes the login", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await nexus.configure({ notes: { url: world.server.url } });
  const profile = `--user-data-dir='${nexus.root}/profile'`;
  const line = `exec ${CHROMIUM} --headless --no-sandbox --disable-gpu ${profile} --dump-dom "$1"`;
  const BROWSER = await nexus.write("browser/open", `#!/bin/sh\n${line} > '${nexus.root}/shown.html' 2>/dev/null\n`);
  await chmod(BROWSER, 0o700);

  expect(await ended(nexus.inTerminal(["mcp", "login", "notes"], { env: { BROWSER } }))).toMatchObject({ code: 0 });
  expect((await nexus.run(["mcp", "call", "notes.echo", "--arg", "text=hello"])).stdout).toBe("hello\n");
});
