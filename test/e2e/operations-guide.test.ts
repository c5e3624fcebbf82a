import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { serveForGuide } from "../fixtures/guide-gateway.ts";
import { runShown, shownPattern, shownSessions } from "../fixtures/shown-commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The guide has many commands, each of which is a process. */
const GUIDE_MS = 180_000;
/** What the guide shows in place of what is different for each reader. */
const SHOWN = { address: "http://127.0.0.1:3210", keyId: "3fA9cK2mQx7Ytz01" };

const posix = test.runIf(process.platform !== "win32");
posix("N14: the commands of docs/guide/operations.md print what it shows", { timeout: GUIDE_MS }, async () => {
  const home = await mkdtemp(join(tmpdir(), "nexus-operations-"));
  try {
    const env = { NEXUS_DATABASE: `file:${join(home, "nexus.db")}` };
    const sessions = shownSessions(await readFile(join(ROOT, "docs/guide/operations.md"), "utf8"));
    expect(sessions.length).toBeGreaterThan(15);
    const beforeStart = sessions.findIndex(({ command }) => command.includes(SHOWN.address));
    const real = new Map<string, string>();
    const here = (text: string) => [...real].reduce((all, [shown, value]) => all.replaceAll(shown, value), text);
    const check = async ({ command, output }: { command: string; output: string }) => {
      const pattern = () => shownPattern(here(output));
      // What a gateway notices, logs or records shortly after a call is looked for until it is there.
      const run = async () =>
        (await runShown(here(command), { root: ROOT, home, env })).output.replaceAll("\r", "").trimEnd();
      const printed = await run();
      const [, keyId] = /^Created the key (\S+)/.exec(printed) ?? [];
      if (keyId !== undefined && !real.has(SHOWN.keyId)) real.set(SHOWN.keyId, keyId);
      if (isRepeatable(command) && !pattern().test(printed))
        // Slower than the limit of the key, which may make ten requests a second.
        await expect.poll(run, { message: command, interval: 250 }).toMatch(pattern());
      else expect(printed, command).toMatch(pattern());
    };
    for (const session of sessions.slice(0, beforeStart)) await check(session);
    const args = ["--auth", "keys", "--log", "json"];
    await using gateway = await serveForGuide({ root: ROOT, home, env, args, log: join(home, "gateway.log") });
    real.set(SHOWN.address, gateway.url.replace("/mcp", ""));
    for (const session of sessions.slice(beforeStart)) await check(session);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** Reads and changes nothing. */
function isRepeatable(command: string): boolean {
  return /^(grep|nexus audit (list|show|verify|export)) |\/(readyz|metrics)\b|%{http_code}/.test(command);
}
