import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openAnthropicFake } from "../fixtures/providers/anthropic-fake.ts";
import { runShown, shownPattern, shownSessions } from "../fixtures/shown-commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SHOWN_ADDRESS = "http://127.0.0.1:4010";

const posix = test.runIf(process.platform !== "win32");
posix("N14: the commands of docs/guide/models.md print what it shows", async () => {
  const home = await mkdtemp(join(tmpdir(), "nexus-models-"));
  await using provider = await openAnthropicFake();
  provider.models = ["claude-haiku-5-5", "claude-sonnet-5-5"];
  provider.fallback = { text: "ready" };
  try {
    const env = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: provider.url };
    const sessions = shownSessions(await readFile(join(ROOT, "docs/guide/models.md"), "utf8"));
    expect(sessions).toHaveLength(3);
    for (const { command, output } of sessions) {
      const ran = await runShown(command, { root: ROOT, home, env });
      expect(ran.output.trimEnd(), command).toMatch(shownPattern(output.replaceAll(SHOWN_ADDRESS, provider.url)));
    }
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
