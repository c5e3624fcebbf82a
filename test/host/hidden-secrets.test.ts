import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { FileSecretStore } from "../../src/auth/secrets.ts";
import { failure } from "../fixtures/failure.ts";
import { HostWorld, until } from "./world.ts";

const SECRET = "ghp_0123456789abcdef";

test("P1.9: a secret that a server writes to stderr is in no error, no tail and no log", async () => {
  await using world = await HostWorld.open();
  await new FileSecretStore({ folder: world.path("state/secrets"), platform: process.platform }).set("gh", SECRET);
  const script = world.path("server.mjs");
  // In two pieces, as a pipe may deliver it.
  await writeFile(
    script,
    `const token = process.env.TOKEN;
process.stderr.write("refused: " + token.slice(0, 9), () => process.stderr.write(token.slice(9) + "\\n", () => process.exit(1)));`,
  );
  await using host = await world.host(
    { gh: { command: process.execPath, args: [script], env: { TOKEN: "${secret:gh}" } } },
    { backoff: { firstMs: 20, longestMs: 20, settledMs: 60_000, patience: 1 } },
  );
  await until(host, "gh", "failed");
  const error = await failure(host.callTool("gh.x"));
  expect(JSON.stringify([error, error.message, host.servers().map(({ state }) => state)])).not.toContain(SECRET);
  expect(error.message).toContain("refused: •••");
  await expect.poll(() => readFile(world.path("state/logs/gh.log"), "utf8")).toContain("refused: •••\n");
  expect(await readFile(world.path("state/logs/gh.log"), "utf8")).not.toContain("ghp_");
});
