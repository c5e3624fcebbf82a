import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { AuthWorld } from "../fixtures/auth/auth-world.ts";
import { BrowserProgram } from "../fixtures/auth/browser-program.ts";
import { failure } from "../fixtures/failure.ts";
import { serveForGuide } from "../fixtures/guide-gateway.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OF_CALLER = "token-of-the-caller";

const posix = test.runIf(process.platform !== "win32");

posix("N3: a gateway uses a login that is made while it runs, and never the token of its caller", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await using browser = await BrowserProgram.start(nexus, world.browser);
  await nexus.configure({ notes: { url: world.server.url } });
  const log = join(nexus.root, "gateway.log");
  await using gateway = await serveForGuide({ root: ROOT, home: nexus.home, env: {}, log });
  await using caller = await connect({ url: gateway.url, headers: { Authorization: `Bearer ${OF_CALLER}` } });

  await failure(caller.callTool("notes__echo", { text: "hello" }));
  await expect.poll(() => readFile(log, "utf8")).toContain("nexus mcp login notes");
  expect((await nexus.run(["mcp", "login", "notes"], { env: { BROWSER: browser.file } })).code).toBe(0);

  await expect
    .poll(() => caller.callTool("notes__echo", { text: "hello" }).catch((error: Error) => error.message))
    .toMatchObject({ content: [{ text: "hello" }] });
  expect(world.server.requests.map(({ token }) => token)).not.toContain(OF_CALLER);
  const shown = await readFile(log, "utf8");
  expect([...world.authorization.secrets].filter((secret) => shown.includes(secret))).toEqual([]);
});
