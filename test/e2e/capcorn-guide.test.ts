import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveForGuide } from "../fixtures/guide-gateway.ts";
import { isOurs, lasting, runShown, shownCommands } from "../fixtures/shown-commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The guide has many commands, each of which is a process. */
const GUIDE_MS = 300_000;
const SOON = { timeout: 60_000, interval: 200 };
/** The address of the gateway in the guide. */
const SHOWN_URL = "http://127.0.0.1:3210";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "nexus-capcorn-"));
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

const posix = test.runIf(process.platform !== "win32");
posix(
  "X5, X12, X13: the CapCorn guide leads from the manual to a published server",
  { timeout: GUIDE_MS },
  async () => {
    await using gateway = await serveForGuide({ root: ROOT, home, env: {} });
    const { origin } = new URL(gateway.url);
    for (const { lines, output } of shownCommands(await readFile(join(ROOT, "docs/guide/capcorn.md"), "utf8"))) {
      let printed = "";
      for (const { command, exitCode } of lines) {
        expect(isOurs(command), command).toBe(true);
        let ran = { code: -1, output: "" };
        const isAsShown = async () => {
          ran = await runShown(command.replace(SHOWN_URL, origin), { root: ROOT, home });
          return ran.code === exitCode && lasting(output ?? "").startsWith(lasting(printed + ran.output));
        };
        // The gateway follows the store. What is sent to it here only reads, so it is repeated until the change is there.
        if (command.includes(SHOWN_URL)) await expect.poll(isAsShown, { ...SOON, message: command }).toBe(true);
        else await isAsShown();
        expect(ran, command).toMatchObject({ code: exitCode });
        printed += ran.output;
      }
      if (output !== undefined) expect(lasting(printed)).toBe(lasting(output));
    }
  },
);
