import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { serveForGuide } from "../fixtures/guide-gateway.ts";
import { onBothEngines } from "../fixtures/store-world.ts";
import { isOurs, runShown, shownCommands } from "../fixtures/shown-commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The guide has many commands, each of which is a process. */
const GUIDE_MS = 180_000;
const SOON = { timeout: 60_000, interval: 100 };
/** What callers see at the end of the guide: the servers of their own tenants. */
const SEEN = { "shop-agent": ["demo"], "bank-agent": ["hotel"] };
/** The same at the address of a set that both have under one name. */
const SEEN_IN_SET = { "shop-desk": ["roll"], "bank-desk": ["hotel"] };

onBothEngines("docs/guide/team.md", (world) => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "nexus-team-"));
  });
  afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

  async function serversSeen(url: string, key: string): Promise<string[]> {
    await using client = await connect({ url, headers: { authorization: `Bearer ${key}` } });
    const names = (await client.listTools()).map(({ name }) => name.split("__")[0] ?? "");
    return [...new Set(names)].toSorted();
  }

  const posix = test.runIf(process.platform !== "win32");
  posix("N14: its commands lead to two tenants with servers and keys of their own", { timeout: GUIDE_MS }, async () => {
    // SQLite needs no setup: the database is the default one.
    const env: Record<string, string> =
      world().kind === "sqlite" ? {} : { NEXUS_DATABASE: await world().newAddressText() };
    await using gateway = await serveForGuide({ root: ROOT, home, env });
    const keys = new Map<string, string>();
    for (const { lines } of shownCommands(await readFile(join(ROOT, "docs/guide/team.md"), "utf8"))) {
      for (const { command, exitCode } of lines.filter((line) => isOurs(line.command))) {
        const { code, output } = await runShown(command, { root: ROOT, home, env });
        expect({ code, output }, command).toMatchObject({ code: exitCode });
        const [, name] = /nexus keys create (\S+)/.exec(command) ?? [];
        if (name !== undefined) keys.set(name, /^nxs_\w+$/m.exec(output)?.[0] ?? "");
      }
    }
    for (const [name, servers] of Object.entries(SEEN)) {
      await expect.poll(() => serversSeen(gateway.url, keys.get(name) ?? ""), SOON).toEqual(servers);
    }
    const set = gateway.url.replace("/mcp", "/sets/desk/mcp");
    for (const [name, seen] of Object.entries(SEEN_IN_SET)) {
      await expect.poll(() => serversSeen(set, keys.get(name) ?? ""), SOON).toEqual(seen);
      expect(await serversSeen(gateway.url, keys.get(name) ?? "")).toEqual([]);
    }
  });
});
